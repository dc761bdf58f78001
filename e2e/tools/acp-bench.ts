import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StartedProcess } from '../../scripts/process/start-process.ts';
import { configFlag } from '../cli-process.ts';
import { callConsole } from '../person.ts';
import { type JobAnswer, logOf, startToolBench, type ToolBench } from './tool-bench.ts';
import type { ToolName } from './tool-table.ts';
import type { Turn } from './turns.ts';

/** The tools that the agent knows by name, and what each needs to be installed. */
export const acpTools = {
  claude: ['claude', 'claude-acp'],
  codex: ['codex', 'codex-acp'],
  opencode: ['opencode'],
  gemini: ['gemini'],
} as const satisfies Readonly<Record<string, readonly ToolName[]>>;

export type AcpTool = keyof typeof acpTools;

/** A bench with an agent that runs one tool over ACP, several jobs at once. */
export interface AcpBench {
  readonly bench: ToolBench;
  /** Enqueues a job whose model answers with these turns. */
  enqueue(turns: readonly Turn[]): Promise<string>;
  /** Waits until a job has ended or is blocked. */
  end(jobId: string): Promise<AcpEnd>;
  /** Waits for open questions of a job. */
  questions(jobId: string, count?: number): Promise<AskedQuestion[]>;
  answer(question: AskedQuestion, value: string): Promise<void>;
  /** Waits until the model has been called so often for a job. */
  modelCalls(jobId: string, count: number): Promise<void>;
  /** Waits until a job has failed once, and returns the code. */
  failure(jobId: string): Promise<string>;
  /** Looks again and again; fails with all that is known after two minutes. */
  until<Found>(what: string, jobId: string, look: () => Promise<Found | null>): Promise<Found>;
  close(): Promise<void>;
}

export interface AcpEnd extends JobAnswer {
  log: string;
}

export interface AskedQuestion {
  uncertaintyId: string;
  prompt: string;
  kind: string;
  options: { value: string; label: string; description?: string }[];
}

/** Claude Code would try a rejected key for minutes. Gemini trusts no folder by itself. */
const environments: Readonly<Record<AcpTool, Readonly<Record<string, string>>>> = {
  claude: { CLAUDE_CODE_MAX_RETRIES: '1' },
  codex: {},
  opencode: {},
  gemini: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
};

/** A busy machine takes its time to start tools. */
const LIMIT_MS = 120_000;
const restful: readonly string[] = ['done', 'failed', 'blocked', 'canceled'];

/**
 * @param rules lines of a permission file.
 * @param more settings of the agent.
 */
export async function startAcpBench(
  tool: AcpTool,
  rules: readonly string[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<AcpBench> {
  const bench = await startToolBench(acpTools[tool], environments[tool]);
  const { baseUrl } = bench.hub;
  const { workspaceId, cookie } = bench.person;
  const file = join(bench.folder, 'permissions');
  writeFileSync(file, `${rules.join('\n')}\n`);
  const settings = configFlag(bench.folder, {
    tool: { name: tool },
    permissions: file,
    ...more,
  });
  const line = ['agent', 'start', '--jobs', '3', ...settings];
  const agent = bench.machine.start(line);
  await agent.waitFor(/waiting for jobs/, LIMIT_MS);
  const scenarioOf = new Map<string, string>();
  let scenarios = 0;
  const call = async (path: string, body: object) =>
    (await callConsole(baseUrl, path, { workspaceId, ...body }, cookie)).answer;

  async function until<Found>(
    what: string,
    jobId: string,
    look: () => Promise<Found | null>,
  ): Promise<Found> {
    for (const untilMs = Date.now() + LIMIT_MS; ; ) {
      const found = await look();
      if (found !== null) return found;
      if (Date.now() > untilMs) throw await inVain(what, jobId);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async function inVain(what: string, jobId: string): Promise<Error> {
    const { unexpected } = bench.model;
    const log = logOf(await bench.readJob(jobId));
    return new Error(`no ${what}\n${log}\n${agent.stdout}\n${unexpected.join('\n')}`);
  }

  return {
    bench,
    until,
    async enqueue(turns) {
      scenarios += 1;
      const scenario = `acp-${scenarios}`;
      bench.model.script({ [scenario]: turns });
      const jobId = await bench.enqueue(`Work on it.\n\n[scenario ${scenario}]`);
      scenarioOf.set(jobId, scenario);
      return jobId;
    },
    async end(jobId) {
      await until('end', jobId, async () => {
        const { job } = await call('jobs/get', { jobId });
        return restful.includes((job as { status: string }).status) ? true : null;
      });
      const answer = await bench.readJob(jobId);
      return { ...answer, log: logOf(answer) };
    },
    questions: (jobId, count = 1) =>
      until(`${count} questions`, jobId, async () => {
        const { uncertainties } = await call('uncertainties/list', { jobId, status: 'open' });
        const asked = uncertainties as AskedQuestion[];
        if (asked.length >= count) return asked;
        const { job } = await call('jobs/get', { jobId });
        if (!restful.includes((job as { status: string }).status)) return null;
        throw await inVain('question before the end', jobId);
      }),
    async answer({ uncertaintyId }, value) {
      const body = { uncertaintyId, mode: 'answered', value, confidence: 1 };
      await call('uncertainties/add-resolution', body);
    },
    modelCalls: async (jobId, count) => {
      const scenario = scenarioOf.get(jobId) ?? '';
      await until('call of the model', jobId, async () =>
        bench.model.callsOf(scenario) >= count ? true : null,
      );
    },
    failure: (jobId) =>
      until('failure', jobId, async () => {
        const { events } = await bench.readJob(jobId);
        const failed = events.find(({ kind }) => kind === 'failed');
        const { outcomeReason } = (failed?.data ?? {}) as { outcomeReason?: { code?: string } };
        return outcomeReason?.code ?? null;
      }),
    async close() {
      await stop(agent);
      await bench.close();
    },
  };
}

async function stop(agent: StartedProcess): Promise<void> {
  agent.child.kill('SIGTERM');
  await agent.ended;
}

/** A process of a job, by the variables that every process of it has. */
export interface JobProcess {
  pid: number;
  /** Its program and arguments, separated by spaces. */
  line: string;
}

/** The processes of a job, oldest first. */
export function processesOf(jobId: string): JobProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b)
    .flatMap((pid) => {
      try {
        const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        if (!variables.includes(`SIGNALBOX_JOB_ID=${jobId}`)) return [];
        const program = readlinkSync(`/proc/${pid}/exe`);
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return [{ pid, line: `${program} ${line}` }];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
}

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import { configFlag } from '../cli-process.ts';
import { callConsole } from '../person.ts';
import { toolMissing } from './install-tool.ts';
import { logOf, startToolBench, type ToolBench } from './tool-bench.ts';
import { native, say, type Turn, use } from './turns.ts';

/** A call of a tool of the job's own server, in the words of each coding tool. */
const callOf = {
  claude: (name: string, input: object) => native(`mcp__signalbox__${name}`, input),
  codex: (name: string, input: object) =>
    use({ tool: 'native', namespace: 'mcp__signalbox', name, input }),
} as const satisfies Record<string, (name: string, input: object) => Turn>;

const ways = [
  { tool: 'claude', how: 'by its own command', protocol: 'cli' },
  { tool: 'codex', how: 'by its own command', protocol: 'cli' },
  { tool: 'claude', how: 'over ACP', protocol: 'acp' },
  { tool: 'codex', how: 'over ACP', protocol: 'acp' },
] as const;

describe('the tools of a job in a real coding tool', {
  skip: toolMissing('claude', 'claude-acp', 'codex', 'codex-acp'),
}, () => {
  let bench: ToolBench;
  before(async () => {
    bench = await startToolBench(['claude', 'claude-acp', 'codex', 'codex-acp']);
  });
  afterEach(() => bench.checkRequests());
  after(() => bench?.close());

  for (const [index, { tool, how, protocol }] of ways.entries()) {
    it(`${tool}, ${how}: asks a person, gets the answer, and reports`, async () => {
      const call = callOf[tool];
      const scenario = `ask-${index}`;
      const turns = [
        call('ask_person', { question: 'Which port?', options: ['8080', '9443'] }),
        call('report_evidence', { check: 'npm test', outcome: 'passed', detail: '3 tests' }),
        call('finish', { outcome: 'done', message: 'The port is set.' }),
        say('Ended.'),
      ];
      bench.model.script({ [scenario]: turns });
      const jobId = await bench.enqueue(`Set the port.\n\n[scenario ${scenario}]`);
      const agent = bench.machine.start([
        ...['agent', 'start', '--once'],
        ...configFlag(bench.folder, { tool: { name: tool, protocol } }),
      ]);
      const question = await findQuestion(bench, jobId, () => `${agent.stdout}\n${agent.stderr}`);
      assert.equal(question.prompt, 'Which port?');
      assert.deepEqual(tokensInArguments(), [], 'no token is in an argument');
      const { baseUrl } = bench.hub;
      const { workspaceId, cookie } = bench.person;
      const { uncertaintyId } = question;
      const body = { workspaceId, uncertaintyId, mode: 'answered', value: '9443', confidence: 1 };
      await callConsole(baseUrl, 'uncertainties/add-resolution', body, cookie);
      const end = await agent.ended;
      const answer = await bench.readJob(jobId);
      assert.equal(end.code, 0, `${agent.stdout}\n${agent.stderr}\n${logOf(answer)}`);
      assert.equal(answer.job.status, 'done', logOf(answer));
      assert.equal(answer.job.message, 'The port is set.');
      const reported = (answer.job.evidence as { reported?: unknown }).reported;
      assert.deepEqual(reported, [{ check: 'npm test', outcome: 'passed', detail: '3 tests' }]);
      const told = JSON.stringify(bench.model.requests.at(-1)?.body);
      assert.match(told, /A person answered: 9443/);
    });
  }
});

interface Asked {
  uncertaintyId: string;
  prompt: string;
}

const LIMIT_MS = 120_000;

async function findQuestion(bench: ToolBench, jobId: string, why: () => string): Promise<Asked> {
  const { workspaceId, cookie } = bench.person;
  const untilMs = Date.now() + LIMIT_MS;
  for (;;) {
    const body = { workspaceId, jobId, status: 'open' };
    const { answer } = await callConsole(bench.hub.baseUrl, 'uncertainties/list', body, cookie);
    const [asked] = answer.uncertainties as Asked[];
    if (asked !== undefined) return asked;
    const job = await bench.readJob(jobId);
    const isOver = ['done', 'failed'].includes(job.job.status) || Date.now() > untilMs;
    assert.ok(!isOver, `no question: ${logOf(job)}\n${why()}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Job tokens in the arguments of all processes of this machine, which all users can read. */
function tokensInArguments(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        // It has ended meanwhile.
        return '';
      }
    })
    .filter((line) => line.includes('sbx_j_'))
    .map((line) => line.replaceAll('\0', ' '));
}

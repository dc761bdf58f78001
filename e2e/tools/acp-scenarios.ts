import assert from 'node:assert/strict';
import { type AcpBench, type AcpEnd, type AcpTool, processesOf } from './acp-bench.ts';
import { fail, hang, native, say, shell, type Turn, use, write } from './turns.ts';

/** A tool does not offer what a scenario is about; the message says what is missing. */
export class NotOfferedError extends Error {
  override name = 'NotOfferedError';
}

type Scenario = (bench: AcpBench, tool: AcpTool) => Promise<string>;

/** Codex calls its model after the work too, to name the session. */
const afterwards = Array.from({ length: 4 }, () => say('A name'));
const play = (...turns: Turn[]) => [...turns, ...afterwards];

/** A command that no rule allows. Codex asks only about what its sandbox would refuse. */
export function outsideCall(tool: AcpTool, name: string) {
  const command = `touch ${name}`;
  if (tool !== 'codex') return { tool: 'shell', command } as const;
  const input = { cmd: command, sandbox_permissions: 'require_escalated', justification: 'Test' };
  return { tool: 'native', name: 'exec_command', input } as const;
}

const personTools = {
  claude: { name: 'mcp__signalbox__ask_person' },
  codex: { namespace: 'mcp__signalbox', name: 'ask_person' },
  opencode: { name: 'signalbox_ask_person' },
  gemini: { name: 'mcp_signalbox_ask_person' },
} as const;

/** The plan tool of each model. Codex has none, and Gemini CLI tells its client nothing of it. */
const plans: Readonly<Record<AcpTool, Turn | null>> = {
  claude: native('TodoWrite', {
    todos: [{ content: 'Look', status: 'in_progress', activeForm: 'Look' }],
  }),
  codex: null,
  opencode: native('todowrite', {
    todos: [{ content: 'Look', status: 'in_progress', priority: 'high' }],
  }),
  gemini: null,
};

function isDone({ job, log }: AcpEnd): void {
  assert.equal(job.status, 'done', `${job.status}: ${job.message}\n${log}`);
}

/** Ends processes of a job while its model does not answer, and waits for what becomes of it. */
async function crash(bench: AcpBench, pattern: RegExp): Promise<string> {
  const jobId = await bench.enqueue(play(hang(), say('Recovered.')));
  await bench.modelCalls(jobId, 1);
  const found = processesOf(jobId).filter(({ line }) => pattern.test(line));
  assert.ok(found.length > 0, `no process matches ${pattern}`);
  for (const { pid } of found.slice(0, 1)) process.kill(pid, 'SIGKILL');
  const end = await bench.end(jobId);
  isDone(end);
  return /resumed session/.test(end.log) ? 'session resumed' : 'tried again';
}

/** The program of a tool, and the process that speaks ACP for it. */
export const programs: Readonly<Record<AcpTool, { tool: RegExp; adapter: RegExp }>> = {
  claude: { tool: /\/claude-code-[^/ ]+\/claude /, adapter: /claude-agent-acp/ },
  codex: { tool: /codex-0\.[^/ ]+\/.* app-server/, adapter: /codex-acp\/dist/ },
  opencode: { tool: /bin\/opencode acp/, adapter: /bin\/opencode acp/ },
  gemini: { tool: /max-old-space-size.*gemini\.js/, adapter: /gemini\.js --acp/ },
};

/** The twelve scenarios; each ends with a few words about what was seen. */
export const acpScenarios: Readonly<Record<string, Scenario>> = {
  async write(bench) {
    const end = await bench.end(await bench.enqueue(play(write('a.txt', 'a\n'), say('Written.'))));
    isDone(end);
    assert.deepEqual(end.job.evidence?.changedFiles, ['a.txt']);
    assert.match(end.log, /a\.txt \(\+1 −0\)/);
    return '';
  },
  async command(bench) {
    const turns = play(shell('git log -1 --format=%s'), say('Ran.'));
    const end = await bench.end(await bench.enqueue(turns));
    isDone(end);
    assert.match(end.log, /→ git log -1 --format=%s\n {2}Begin\n/);
    return '';
  },
  async plan(bench, tool) {
    const plan = plans[tool];
    if (plan === null) throw new NotOfferedError('it sends no plan');
    const end = await bench.end(await bench.enqueue(play(plan, say('Planned.'))));
    isDone(end);
    // opencode sends it as any other call.
    assert.match(end.log, tool === 'opencode' ? /→ todowrite\n/ : /Plan:\n {2}▸ Look\n/);
    return tool === 'opencode' ? 'as a call' : '';
  },
  async question(bench, tool) {
    const input = { question: 'Which port?', options: ['8080', '9443'] };
    const call = { tool: 'native', input, ...personTools[tool] } as const;
    const jobId = await bench.enqueue(play(use(call), say('The port is set.')));
    const [question] = await bench.questions(jobId);
    assert.ok(question);
    await bench.answer(question, '9443');
    isDone(await bench.end(jobId));
    const bodies = bench.bench.model.requests.map(({ body }) => JSON.stringify(body));
    assert.ok(bodies.some((body) => body.includes('A person answered: 9443')));
    return '';
  },
  async refusal(bench, tool) {
    const jobId = await bench.enqueue(play(use(outsideCall(tool, 'no.txt')), say('Left out.')));
    const [question] = await bench.questions(jobId);
    const option = question?.options.find(({ description }) => description?.startsWith('Refuses'));
    assert.ok(question && option, JSON.stringify(question));
    await bench.answer(question, option.value);
    const { job } = await bench.end(jobId);
    assert.deepEqual(job.evidence?.changedFiles, []);
    assert.ok(job.status === 'done' || job.outcomeReason?.code === 'permission_refused');
    return job.status === 'done' ? 'continues' : 'ends its turn';
  },
  async cancel(bench) {
    const jobId = await bench.enqueue([hang()]);
    await bench.modelCalls(jobId, 1);
    await bench.bench.cancel(jobId);
    assert.equal((await bench.end(jobId)).job.status, 'canceled');
    await bench.until('end of its processes', jobId, async () =>
      processesOf(jobId).length === 0 ? true : null,
    );
    return '';
  },
  'tool crash': (bench, tool) => crash(bench, programs[tool].tool),
  async 'adapter crash'(bench, tool) {
    if (tool === 'opencode') throw new NotOfferedError('the tool is its own adapter');
    return await crash(bench, programs[tool].adapter);
  },
  async 'huge output'(bench) {
    // Gemini CLI ends a turn whose text repeats itself: it takes that for a loop of the model.
    const lines = Array.from({ length: 20_000 }, (_, at) => `word ${at}\n`);
    const turns = play(shell('seq 1 200000'), say(lines.join('')));
    const end = await bench.end(await bench.enqueue(turns));
    isDone(end);
    assert.match(end.log, /\nword 19999/);
    return `${Math.round(end.log.length / 1_000)} KB in the log`;
  },
  async 'two permissions'(bench, tool) {
    const calls = ['one.txt', 'two.txt'].map((name) => outsideCall(tool, name));
    const jobId = await bench.enqueue(play(use(calls), say('Done.')));
    let open = (await bench.questions(jobId)).length;
    for (let asked = 0; asked < 2; ) {
      const questions = await bench.questions(jobId);
      open = Math.max(open, questions.length);
      const [question] = questions;
      const option = question?.options.find(({ description }) =>
        description?.startsWith('Allows this action once'),
      );
      assert.ok(question && option, JSON.stringify(question));
      await bench.answer(question, option.value);
      asked += 1;
    }
    const end = await bench.end(jobId);
    isDone(end);
    assert.deepEqual(end.job.evidence?.changedFiles, ['one.txt', 'two.txt']);
    return open > 1 ? 'at once' : 'one after the other';
  },
  async 'login needed'(bench) {
    const error = fail(401, 'invalid x-api-key', { type: 'authentication_error' });
    const jobId = await bench.enqueue([error]);
    const reason = await bench.failure(jobId);
    await bench.bench.cancel(jobId);
    assert.equal(reason, 'not_logged_in');
    return '';
  },
  async usage(bench, tool) {
    const spent = { input: 1_000, output: 100, cached: 3_000 };
    const turns = play(shell('git status', { spent }), say('Counted.', { spent }));
    const { job } = await bench.end(await bench.enqueue(turns));
    if (tool === 'opencode') {
      assert.equal(job.usage, null);
      throw new NotOfferedError('it tells its last call only, so nothing is shown');
    }
    const { inputTokens, cachedInputTokens } = job.usage as Record<string, number>;
    // Claude Code counts its own call for the title too.
    assert.ok(inputTokens === 8_000 || inputTokens === 8_001, JSON.stringify(job.usage));
    if (cachedInputTokens === undefined) return 'says nothing of its cache';
    assert.equal(cachedInputTokens, 6_000);
    return 'with cached input';
  },
};

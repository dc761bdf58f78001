import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { configFlag } from '../cli-process.ts';
import { processesOf } from './acp-bench.ts';
import { toolMissing } from './install-tool.ts';
import { logOf, startToolBench, type ToolBench } from './tool-bench.ts';
import { hang, limit, limitedAccount, say, shell } from './turns.ts';

/** Over ACP, the tools name the minute of the reset only. */
const PAUSE_LIMIT_MS = 240_000;

/** With one job more than the agent runs at once. */
const ways = [
  {
    how: 'claude',
    words: /You've hit your 5-hour limit/,
    slots: 2,
    tool: { name: 'claude', protocol: 'cli' },
  },
  {
    how: 'claude-acp',
    words: /You've hit your 5-hour limit/,
    slots: 1,
    tool: { name: 'claude' },
  },
  { how: 'codex-acp', words: /hit your usage limit/, slots: 1, tool: { name: 'codex' } },
] as const;

/** The cost of a job with the scripted model: a fraction of a cent for each call. */
const dear = { spent: { input: 1_000, output: 1_000 } };

describe('limits of accounts and budgets under the real tool', {
  skip: toolMissing('claude', 'claude-acp', 'codex', 'codex-acp'),
}, () => {
  let bench: ToolBench;
  before(async () => {
    const tools = ['claude', 'claude-acp', 'codex', 'codex-acp'] as const;
    bench = await startToolBench(tools, {}, { claudeLogin: 'subscription' });
  });
  let running: ReturnType<ToolBench['machine']['start']> | null = null;
  const startAgent = (tool: object, ...flags: string[]) => {
    const settings = configFlag(bench.folder, { tool });
    running = bench.machine.start(['agent', 'start', ...flags, ...settings]);
    return running;
  };
  const stopAgent = async () => {
    running?.child.kill('SIGTERM');
    await running?.ended;
    running = null;
  };
  afterEach(async () => {
    await stopAgent();
    bench.checkRequests();
  });
  after(() => bench?.close());

  for (const { how, words, slots, tool } of ways) {
    it(`D1, D4: ${how}, ${slots + 1} jobs and the limit of a login: all wait for the reset, and are done`, async () => {
      const account = limitedAccount(30_000);
      const ids: string[] = [];
      for (let number = 0; number <= slots; number += 1) {
        const scenario = `limit-${how}-${number}`;
        bench.model.script({ [scenario]: [limit(account), say('Done.')] });
        ids.push(await bench.enqueue(`Work. [scenario ${scenario}]`));
      }
      const agent = startAgent(tool, '--jobs', String(slots));
      await agent.waitFor(/paused until \d\d:\d\d:\d\d, usage_limit: /);
      const agents = await bench.machine.run(['agents']);
      assert.match(agents.stdout, /◐ paused until \d\d:\d\d/);
      assert.match(agent.stdout, words);
      await agent.waitFor(/claiming again/, PAUSE_LIMIT_MS);
      const untilMs = Date.now();
      await agent.waitFor(new RegExp(`(?:✔ [^]*){${slots + 1}}`), PAUSE_LIMIT_MS);
      await stopAgent();
      assert.ok(untilMs >= (account.resetsAtMs ?? Infinity), 'it claimed before the reset');
      // All slots were filled before the first answer.
      assert.ok(account.refused <= slots, `${account.refused} requests during the limit`);
      for (const jobId of ids) {
        const { job, events } = await bench.readJob(jobId);
        const { maxAttempts } = job as unknown as { maxAttempts: number };
        assert.equal(job.status, 'done', JSON.stringify(job.outcomeReason));
        assert.ok(job.attempt <= 2, `${job.attempt} attempts`);
        // The refused attempt did not count.
        assert.equal(maxAttempts - job.attempt, 4);
        const refused = events.find(({ kind }) => kind === 'failed');
        if (refused === undefined) continue;
        assert.match(JSON.stringify(refused.data), /"code":"usage_limit".*"resetsAt":"2/);
      }
    });
  }

  for (const [how, tool] of [
    ['claude', { name: 'claude', protocol: 'cli', allow: ['Bash(*)'] }],
    ['claude-acp', { name: 'claude' }],
  ] as const) {
    it(`D8: ${how}, a job that has spent its budget ends, and keeps its usage`, async () => {
      const scenario = `budget-${how}`;
      const turns = [
        shell('git status', dear),
        shell('git log -1', dear),
        shell('ls'),
        say('Done.'),
      ];
      bench.model.script({ [scenario]: turns });
      const prompt = `Work. [scenario ${scenario}]`;
      const jobId = await bench.enqueue(prompt, 'work', { budget: { costUsd: 0.01 } });
      const agent = startAgent(tool, '--once');
      await agent.ended;
      const answer = await bench.readJob(jobId);
      const { job } = answer;
      assert.equal(job.status, 'failed', `${agent.stdout}\n${logOf(answer)}`);
      assert.equal(job.outcomeReason?.code, 'budget_spent');
      assert.match(
        job.message ?? '',
        /^The job has spent its budget of \$0\.01: it has cost \$0\.\d+/,
      );
      assert.ok(Number(job.usage?.costUsd) > 0.01, JSON.stringify(job.usage));
      assert.ok(bench.model.callsOf(scenario) < turns.length, 'the turn was ended');
    });
  }

  it('D8: codex reports no cost, so it refuses a job with a budget', async () => {
    const jobId = await bench.enqueue('Work.', 'work', { budget: { costUsd: 1 } });
    await startAgent({ name: 'codex' }, '--once').ended;
    const { job } = await bench.readJob(jobId);
    assert.equal(job.outcomeReason?.code, 'budget_not_enforced', job.status);
  });

  for (const [how, tool] of [
    ['claude', { name: 'claude', protocol: 'cli', allow: ['Bash(*)'] }],
    ['claude-acp', { name: 'claude' }],
    ['codex', { name: 'codex', protocol: 'cli' }],
    ['codex-acp', { name: 'codex' }],
  ] as const) {
    it(`${how}, a job whose model is slower than its time limit ends with all its processes`, async () => {
      const scenario = `time-limit-${how}`;
      // Over ACP a person would be asked about it, and Codex itself ends what a command leaves.
      const left = how === 'claude' ? 'nohup sleep 617 > /dev/null 2>&1 & ' : '';
      bench.model.script({ [scenario]: [shell(`${left}ls`, dear), hang()] });
      const prompt = `Work. [scenario ${scenario}]`;
      const jobId = await bench.enqueue(prompt, 'work', { budget: { timeLimitMs: 30_000 } });
      const agent = startAgent(tool, '--once');
      const ended = agent.ended.then(() => assert.fail('it ended before its model was slow'));
      await Promise.race([bench.model.untilCalls(scenario, 2), ended]);
      const running = processesOf(jobId).map(({ line }) => line);
      const wanted = left === '' ? tool.name : 'sleep 617';
      assert.ok(
        running.some((line) => line.includes(wanted)),
        `${running}`,
      );
      await agent.ended;
      const answer = await bench.readJob(jobId);
      const { job } = answer;
      assert.equal(job.status, 'failed', `${agent.stdout}\n${logOf(answer)}`);
      assert.equal(job.outcomeReason?.code, 'time_limit');
      assert.equal(job.message, 'The job exceeded its time limit of 30 seconds.');
      assert.ok(Number(job.usage?.inputTokens) >= 1_000, JSON.stringify(job.usage));
      assert.equal(job.evidence?.executor?.tool, tool.name);
      assert.match(String(job.evidence?.executor?.version), /\d+\.\d+/);
      assert.deepEqual(processesOf(jobId), []);
    });
  }

  for (const [how, tool] of [
    ['claude', { name: 'claude', protocol: 'cli', allow: ['Bash(*)'] }],
    ['claude-acp', { name: 'claude' }],
    ['codex-acp', { name: 'codex' }],
  ] as const) {
    it(`D8: ${how}, a canceled job keeps what it has used`, async () => {
      const scenario = `cancel-${how}`;
      bench.model.script({ [scenario]: [shell('ls', dear), hang()] });
      const jobId = await bench.enqueue(`Work. [scenario ${scenario}]`);
      const agent = startAgent(tool, '--once');
      const lost = agent.ended.then(() => assert.fail('the agent ended before it was canceled'));
      await Promise.race([bench.model.untilCalls(scenario, 2), lost]);
      await bench.cancel(jobId);
      await agent.ended;
      const answer = await bench.readJob(jobId);
      const { job } = answer;
      assert.equal(job.status, 'canceled');
      // D11: the adapter's own notes and stacks are no output of the job.
      assert.doesNotMatch(
        logOf(answer),
        /^Unexpected case|^ +at |^\[session\/|^Session [0-9a-f-]+/m,
      );
      assert.ok(Number(job.usage?.inputTokens) >= 1_000, JSON.stringify(job.usage));
    });
  }
});

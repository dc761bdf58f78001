import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { toolMissing } from './install-tool.ts';
import { commandLine, startToolBench, type ToolBench } from './tool-bench.ts';
import { drop, fail, say, shell, type Turn } from './turns.ts';

/** Failures as the providers send them, and the code that the job gets. */
const finalFailures: readonly (readonly [string, readonly Turn[], string, string[]])[] = [
  [
    'a refusal',
    [say('', { stop: 'refusal' }), say('', { stop: 'refusal' })],
    'refused',
    ['claude'],
  ],
  [
    'an unknown model',
    [fail(404, 'The model `x` does not exist.', { type: 'not_found_error' })],
    'model_unknown',
    ['claude', 'codex'],
  ],
  [
    'a prompt that is too long',
    [
      fail(400, 'prompt is too long: 210000 tokens > 200000 maximum', {
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
      }),
    ],
    'context_too_long',
    ['claude', 'codex'],
  ],
  ['a cut answer', Array(4).fill(say('Half', { stop: 'max_tokens' })), 'output_limit', ['claude']],
  ['a cut answer', [say('Half', { stop: 'max_tokens' })], 'output_limit', ['codex']],
];

/** Few and short retries of the tools' own. */
const impatient = { CLAUDE_CODE_MAX_RETRIES: '1' };

describe('failures of the provider under the real tool', {
  skip: toolMissing('claude', 'codex'),
}, () => {
  let bench: ToolBench;
  before(async () => {
    bench = await startToolBench(['claude', 'codex'], impatient);
  });
  afterEach(() => bench.checkRequests());
  after(() => bench?.close());

  for (const [name, turns, code, tools] of finalFailures) {
    for (const tool of tools as ('claude' | 'codex')[]) {
      it(`D1: ${tool}, ${name} fails the job with ${code}`, async () => {
        const { job, log } = await bench.work(tool, 'Work.', { turns });
        assert.equal(job.status, 'failed', log);
        assert.equal(job.outcomeReason?.code, code, JSON.stringify(job.outcomeReason));
        assert.doesNotMatch(job.message ?? '', /exited with/);
      });
    }
  }

  for (const [tool, turn] of [
    ['claude', fail(429, 'You have hit your weekly limit', limitOf('rate_limit_error'))],
    ['codex', fail(429, 'The usage limit has been reached', limitOf('usage_limit_reached'))],
  ] as const) {
    it(`D1: ${tool}, a usage limit hands the job back, unspent, and pauses the agent`, async () => {
      const { job, agent, events } = await bench.work(tool, 'Work.', { turns: [turn] });
      assert.equal(job.status, 'pending');
      const { maxAttempts } = job as unknown as { maxAttempts: number };
      assert.equal(maxAttempts - job.attempt, 5);
      assert.match(agent.stdout, /paused until \d\d:\d\d:\d\d, usage_limit: .*limit/);
      assert.match(agent.stdout, /returned to the queue/);
      const failed = events.find(({ kind }) => kind === 'failed');
      assert.match(JSON.stringify(failed?.data), /"code":"usage_limit"/);
      await bench.cancel(job.jobId);
    });
  }

  it('D1: a rejected key hands the job back and says what is wrong', async () => {
    const turns = [fail(401, 'invalid x-api-key', { type: 'authentication_error' })];
    const { job, agent, log } = await bench.work('claude', 'Work.', { turns });
    assert.equal(job.status, 'pending');
    assert.match(agent.stdout, /not_logged_in: Invalid API key/);
    assert.match(log, /… The model answered 401 \(authentication_failed\): try 1 of 1/);
    await bench.cancel(job.jobId);
  });

  it('D1: a connection that breaks returns the job to the queue', async () => {
    const { job } = await bench.work('claude', 'Work.', { turns: [drop()] });
    assert.equal(job.status, 'pending');
    await bench.cancel(job.jobId);
  });

  it('D1: four jobs that wait while the model answers 429 are all done in the end', async () => {
    const busy = fail(429, 'Number of requests has exceeded your rate limit', {
      type: 'rate_limit_error',
      headers: { 'retry-after': '1' },
      times: 2,
    });
    const names = ['one', 'two', 'three', 'four'];
    // The first two runs of the tool fail, each after one retry of its own.
    bench.model.script({
      'busy-one': [busy, say('Done.')],
      'busy-two': [busy, say('Done.')],
      'busy-three': [say('Done.')],
      'busy-four': [say('Done.')],
    });
    const ids: string[] = [];
    for (const name of names) ids.push(await bench.enqueue(`Work. [scenario busy-${name}]`));
    const agent = bench.machine.start(['agent', 'start', ...commandLine(bench.folder, 'claude')]);
    await agent.waitFor(/paused until/);
    await agent.waitFor(/claiming again/);
    await agent.waitFor(/(?:✔ [\s\S]*){4}/, 200_000);
    agent.child.kill('SIGTERM');
    await agent.ended;
    for (const id of ids) assert.equal((await bench.readJob(id)).job.status, 'done');
    // One claim a pause: no other job was claimed, failed and returned meanwhile.
    assert.equal(agent.stdout.match(/returned to the queue/g)?.length, 2, agent.stdout);
  });

  it('D1, D9: tries that work in the end are shown, and the job is done', async () => {
    const turns = [fail(500, 'Internal server error', { times: 1 }), shell('ls'), say('Done.')];
    const { job, log } = await bench.work('claude', 'Work.', { turns });
    assert.equal(job.status, 'done', log);
    assert.match(log, /… The model answered 500/);
  });
});

function limitOf(type: string) {
  return { type, headers: { 'retry-after': '3600' } };
}

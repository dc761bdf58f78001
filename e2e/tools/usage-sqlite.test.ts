import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { toolMissing } from './install-tool.ts';
import { startToolBench, type ToolBench } from './tool-bench.ts';
import { codexModel } from './tool-place.ts';
import { fail, native, say, shell, write } from './turns.ts';

describe('tokens and login of the real tool', { skip: toolMissing('claude', 'codex') }, () => {
  let bench: ToolBench;
  before(async () => {
    bench = await startToolBench(['claude', 'codex']);
  });
  afterEach(() => bench.checkRequests());
  after(() => bench?.close());

  it('D7: the tokens of a sub-agent of Claude count', async () => {
    const spent = { input: 5_000, output: 500, cached: 2_000 };
    bench.model.script({ inner: [shell('ls', { spent }), say('Looked.', { spent })] });
    const task = {
      description: 'Look',
      prompt: 'Look. [scenario inner]',
      subagent_type: 'general-purpose',
    };
    const turns = [native('Task', { ...task, run_in_background: false }), say('Done.')];
    const { job, log } = await bench.work('claude', 'Look.', { turns });
    assert.equal(job.usage?.inputTokens, 100 + 7_000 + 7_000 + 100, log);
    assert.equal(job.usage?.outputTokens, 10 + 500 + 500 + 10);
    assert.equal(job.usage?.cachedInputTokens, 4_000);
    assert.match(log, /→ Task: Look\n│ → Bash: ls\n/);
  });

  it('D7: a turn of Codex that failed keeps its tokens and its model', async () => {
    const spent = { input: 5_000, output: 700 };
    const turns = [
      shell('ls', { spent }),
      fail(404, 'The model `x` does not exist.', { type: 'not_found_error' }),
    ];
    const { job, log } = await bench.work('codex', 'Look.', { turns });
    assert.equal(job.status, 'failed', log);
    assert.equal(job.usage?.inputTokens, 5_000);
    assert.equal(job.usage?.outputTokens, 700);
    assert.equal(job.usage?.model, codexModel);
  });

  it('D7: a job whose tool reached no model has no tokens, not 0', async () => {
    const turns = [fail(404, 'The model `x` does not exist.', { type: 'not_found_error' })];
    for (const tool of ['claude', 'codex'] as const) {
      const { job } = await bench.work(tool, 'Look.', { turns });
      assert.equal(job.usage, null, tool);
    }
  });

  it('D11: the job in the terminal names branch, tool, session and tokens', async () => {
    const turns = [write('new.txt', 'x\n'), say('Written.')];
    const { job } = await bench.work('claude', 'Write.', { turns });
    const { stdout } = await bench.machine.run(['job', job.jobId]);
    assert.match(stdout, /Branch +signalbox\/job_/);
    assert.match(stdout, /Tool +claude, 2\.\d.*, session [0-9a-f-]{36}/);
    assert.match(stdout, /Usage +200 tokens in, 20 out, \$0\.\d\d, claude-/);
  });

  it('D12: an agent whose Claude Code is not logged in does not start', async () => {
    const jobId = await bench.enqueue('Work.');
    const machine = bench.machineWith({ ANTHROPIC_API_KEY: '' });
    const end = await machine.run(['agent', 'start', '--once', '--tool', 'claude']);
    assert.equal(end.code, 2, end.stdout);
    assert.match(end.stderr, /Claude Code is not logged in: run claude and log in there/);
    assert.match(end.stderr, /EXECUTOR_NOT_LOGGED_IN/);
    assert.equal((await bench.readJob(jobId)).job.attempt, 0);
    const doctor = await machine.run(['doctor']);
    assert.match(doctor.stdout, /! claude +Claude Code is not logged in/);
    assert.match(doctor.stdout, /✔ codex +codex-cli 0\.\d/);
  });
});

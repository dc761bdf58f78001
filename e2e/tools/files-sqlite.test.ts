import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { git } from '../git-clone.ts';
import { toolMissing } from './install-tool.ts';
import { startToolBench, type ToolBench } from './tool-bench.ts';
import { codexModel } from './tool-place.ts';
import { say, write } from './turns.ts';

describe('a job of the real tool', { skip: toolMissing('claude', 'codex') }, () => {
  let bench: ToolBench;
  before(async () => {
    bench = await startToolBench(['claude', 'codex']);
  });
  afterEach(() => bench.checkRequests());
  after(() => bench?.close());

  for (const tool of ['claude', 'codex'] as const) {
    it(`${tool} writes a file, and the branch is in the clone`, async () => {
      const turns = [write('greeting.txt', 'hello\n'), say('The greeting is written.')];
      const { job, log, events } = await bench.work(tool, 'Write a greeting.', { turns });
      assert.equal(job.status, 'done', log);
      assert.equal(job.message, 'The greeting is written.');
      assert.deepEqual(job.evidence?.changedFiles, ['greeting.txt']);
      const branch = job.evidence?.branch ?? '';
      assert.equal(git(bench.clone, 'show', `${branch}:greeting.txt`), 'hello');
      assert.equal(job.evidence?.executor?.name, tool);
      assert.equal(job.usage?.inputTokens, 200);
      assert.equal(job.usage?.outputTokens, 20);
      const told = events.flatMap(({ data }) => data?.activity ?? []);
      const edits = told.flatMap(({ toolCall }) => (toolCall?.kind === 'edit' ? [toolCall] : []));
      assert.equal(edits.at(-1)?.status, 'done', JSON.stringify(told));
      assert.ok(told.some(({ session }) => session?.sessionId !== undefined));
      assert.equal(told.findLast(({ usage }) => usage !== undefined)?.usage?.inputTokens, 200);
    });
  }

  it('the model that a tool was told to use answered', () => {
    const models = bench.model.requests.map(({ wire, model }) => `${wire} ${model}`);
    assert.ok(models.includes(`openai ${codexModel}`), models.join());
    assert.ok(
      models.some((model) => model.startsWith('anthropic claude-')),
      models.join(),
    );
  });
});

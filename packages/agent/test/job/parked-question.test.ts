import assert from 'node:assert/strict';
import test from 'node:test';
import type { Executor } from '../../src/index.ts';
import { repoId, resultOf, setup } from '../support/harness.ts';

const asked = { type: 'asked', uncertaintyId: 'unc_1', prompt: 'Which database?' };
const parked = { type: 'parked', uncertaintyId: 'unc_1' };

/** A coding tool whose question has had no answer, and which does not end. */
function askingTool(): Executor {
  const note = [asked, parked].map((line) => `echo '${JSON.stringify(line)}'`).join('; ');
  const script = `echo begun > begun.txt; (${note}) >> "$SIGNALBOX_REPORT_FILE"; exec sleep 600`;
  return {
    name: 'claude',
    check: async () => ({ version: null }),
    plan: () => ({
      file: 'sh',
      args: ['-c', script],
      stdin: '',
      reader: {
        readLine: (text) => ({ parts: [{ text }] }),
        report: () => ({ failure: { code: 'no_result', summary: 'It ended without a result.' } }),
      },
    }),
  };
}

test('a coding tool that continues after its question was parked is ended, and its job is blocked', async (t) => {
  const { hub, start } = await setup(t);
  const held = hub.enqueue({ repoId });
  await start('', { executor: askingTool() });
  await hub.until('the result is accepted', () => held.accepted !== null);
  const { outcome, message, outcomeReason, evidence } = resultOf(held);
  assert.equal(outcome, 'blocked');
  assert.equal(message, 'A person is asked: Which database?');
  assert.equal(outcomeReason?.code, 'waiting_for_answer');
  assert.deepEqual(evidence.changedFiles, ['begun.txt']);
});

test('a tool without sessions begins again after the answer, and the timeline says so', async (t) => {
  const { hub, start } = await setup(t);
  const answer = { uncertaintyId: 'unc_1', prompt: 'Which database?', mode: 'answered' };
  const decisions = [{ ...answer, value: 'SQLite', resolvedAt: new Date().toISOString() }];
  const held = hub.enqueue({ repoId, decisions });
  await start('', { executor: askingTool() });
  await hub.until('the result is accepted', () => held.accepted !== null);
  assert.match(hub.output(held), /claude resumes no sessions.* begins again/);
});

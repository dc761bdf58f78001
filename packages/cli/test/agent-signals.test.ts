import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentSignals } from '../src/commands/agent/agent-signals.ts';

test('Ctrl-C while an agent starts ends it as soon as it has started', async () => {
  const ended = Promise.withResolvers<void>();
  const interrupted = new AbortController();
  const signals = agentSignals({ say: () => {} }, interrupted.signal);
  interrupted.abort();
  let isDrained = false;
  const done = signals.untilDone({
    done: ended.promise,
    heldJobIds: () => [],
    stop: async () => {},
    async drain() {
      isDrained = true;
    },
  });
  assert.ok(isDrained);
  ended.resolve();
  await done;
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { HubMessages, type MessageOptions } from '../../src/job/messages.ts';

test('a job that is stopped while the hub hears of a message does not end the agent', async () => {
  const stopping = new AbortController();
  const session = {
    messages: { told: [] as number[], sent: [1] },
    keepMessages: async (messages: { told: number[]; sent: number[] }) => {
      session.messages = messages;
    },
  };
  const takeMessages = () =>
    new Promise((_, reject) => {
      stopping.signal.addEventListener('abort', () => reject(stopping.signal.reason));
    });
  const options = {
    client: { jobs: { takeMessages } },
    attempt: {},
    session,
    signal: stopping.signal,
  };
  const messages = new HubMessages(options as unknown as MessageOptions);
  const unhandled: unknown[] = [];
  const hear = (error: unknown) => unhandled.push(error);
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', hear);
  await messages.received();
  const reason = { reason: 'agent_stopped', why: 'The agent was stopped.' };
  stopping.abort(reason);
  // An unhandled rejection is reported when the promises that are ready have run.
  await setImmediate();
  process.off('unhandledRejection', hear);
  for (const listener of others) process.on('unhandledRejection', listener);
  assert.deepEqual(unhandled, []);
  await assert.rejects(messages.next(), (error) => error === reason);
});

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { consoleEndpoints, type NotificationChannel, type RequestOf } from '@signalbox/contract';
import { NotificationSender } from '../../src/notifications/sender.ts';
import { readChannel } from '../../src/notifications/store.ts';
import { signInFirstOwner } from './console-person.ts';
import { startDecisionWorld } from './decision-world.ts';
import { startReceiver } from './message-receiver.ts';

const { notificationChannels, notifications } = consoleEndpoints;
export const MINUTE_MS = 60_000;
export const goContent = {
  ...{ jobTitle: null, question: 'Go?', recommended: null, outcome: null },
  ...{ isApproval: false, deadlineAtMs: null, isOfSession: false },
};
export const question = { confidence: 0.2, kind: 'choice', prompt: 'Go?' } as const;
export const everything = {
  ...{ name: 'Phone', showsText: true },
  events: ['decision', 'job_ended'] as NotificationChannel['events'],
};

/** A hub with a person of its workspace, and a receiver of messages. */
export async function startOutbox(t: TestContext, allowPrivateHosts: 'all' | string[] = 'all') {
  const receiver = await startReceiver(t);
  const h = await startDecisionWorld(t, { config: { allowPrivateHosts } });
  const person = await signInFirstOwner(h);
  const { workspaceId, hub } = h;
  const ask = person.call;
  const add = (draft: Partial<RequestOf<typeof notificationChannels.put>> = {}) =>
    ask(notificationChannels.put, {
      ...{ workspaceId, kind: 'ntfy', url: `${receiver.url}/ada-4711`, ...everything, ...draft },
    });
  const own = async () => (await ask(notificationChannels.list, { workspaceId })).channels;
  const told = async (uncertaintyId: string) =>
    (await ask(notifications.list, { workspaceId, uncertaintyId })).notifications;
  const sent = { ...hub.deps, allowed: 'all' as const, smtp: null, baseUrl: () => hub.baseUrl };
  return {
    ...h,
    sender: new NotificationSender(sent, (error) => assert.fail(String(error))),
    person,
    receiver,
    ask,
    add,
    own,
    told,
    send: () => hub.loops.notifications.runOnce(),
  };
}

/** A channel as the database has it. */
export async function readRow(
  { hub, workspaceId }: Awaited<ReturnType<typeof startOutbox>>,
  id: string,
) {
  const row = await readChannel(hub.database.reader, workspaceId, id);
  assert.ok(row);
  return row;
}

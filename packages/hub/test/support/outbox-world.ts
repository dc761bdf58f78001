import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import {
  consoleEndpoints,
  endpoints,
  type NotificationChannel,
  type RequestOf,
} from '@signalbox/contract';
import { insertMembership } from '../../src/access/store.ts';
import { NotificationSender } from '../../src/notifications/sender.ts';
import { putChannel, readChannel } from '../../src/notifications/store.ts';
import { sealTarget } from '../../src/notifications/target.ts';
import { insertPerson } from '../../src/people/store.ts';
import { signInFirstOwner } from './console-person.ts';
import { startDecisionWorld } from './decision-world.ts';
import { startReceiver } from './message-receiver.ts';

const { notificationChannels, notifications } = consoleEndpoints;
export const MINUTE_MS = 60_000;
export const goContent = {
  jobTitle: null,
  question: 'Go?',
  recommended: null,
  outcome: null,
  isApproval: false,
  deadlineAtMs: null,
  isOfSession: false,
  isLowRisk: false,
};
export const question = { confidence: 0.2, kind: 'choice', prompt: 'Go?' } as const;
export const everything = {
  name: 'Phone',
  showsText: true,
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
      workspaceId,
      kind: 'ntfy',
      url: `${receiver.url}/ada-4711`,
      ...everything,
      ...draft,
    });
  const own = async () => (await ask(notificationChannels.list, { workspaceId })).channels;
  const told = async (uncertaintyId: string) =>
    (await ask(notifications.list, { workspaceId, uncertaintyId })).notifications;
  const unset = { smtp: null, slack: null, takesReplies: false, log: { warn() {} } };
  const sent = { ...hub.deps, ...unset, allowed: 'all' as const, baseUrl: () => hub.baseUrl };
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

type Outbox = Awaited<ReturnType<typeof startOutbox>>;

/** A job that Ada enqueued, with a function by which its tool asks. Ada and others have topics. */
export async function startAskingJob(t: TestContext) {
  const h = await startOutbox(t);
  const ada = await h.add({ url: `${h.receiver.url}/ada` });
  const { workspaceId, repoId } = h;
  await h.ask(endpoints.jobs.enqueue, {
    workspaceId,
    repoId,
    kind: 'work',
    prompt: 'Paint it.',
  });
  const claimed = await h.claim({ leaseMs: 60 * MINUTE_MS });
  const raise = async (more: object = {}) => {
    const body = { workspaceId, jobId: claimed.job?.jobId ?? '', ...question, ...more };
    const row = endpoints.uncertainties.createWithAutoPromotion;
    return (await h.call(row, body, claimed.jobToken ?? '')).uncertaintyId;
  };
  /** A member with a topic of their own: the first name. */
  const addMember = (name: string, role: 'owner' | 'member' = 'member') =>
    addMemberLike(h, ada.channel.channelId, name, role);
  /** Topics that have got messages, in this order. */
  const topics = () => h.receiver.messages.map(({ body }) => String(body.topic));
  const sendAll = async () => {
    for (let turn = 0; turn < 5; turn++) await h.send();
    return topics();
  };
  return { ...h, raise, addMember, topics, sendAll };
}

async function addMemberLike(
  h: Outbox,
  channelId: string,
  name: string,
  role: 'owner' | 'member',
): Promise<string> {
  const { database, deps } = h.hub;
  const person_id = deps.ids('person');
  const topic = name.toLowerCase().replace(/ .*/, '');
  await database.write(h.workspaceId, async (tx) => {
    const created_at = tx.nowMs;
    const person = { person_id, email: `${topic}@acme.dev`, name, created_at };
    await insertPerson(tx, { ...person, password_hash: '' });
    await insertMembership(tx, { workspace_id: h.workspaceId, person_id, role, created_at });
    const row = await readRow(h, channelId);
    const own = { ...row, channel_id: deps.ids('notificationChannel'), person_id };
    const target = { url: `${h.receiver.url}/${topic}`, secret: null };
    await putChannel(tx, { ...own, sealed_target: sealTarget(target, deps.secretKey, own) });
  });
  return person_id;
}

/** A channel as the database has it. */
export async function readRow({ hub, workspaceId }: Outbox, id: string) {
  const row = await readChannel(hub.database.reader, workspaceId, id);
  assert.ok(row);
  return row;
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { insertMembership } from '../../src/access/store.ts';
import { putChannel } from '../../src/notifications/store.ts';
import { insertPerson } from '../../src/people/store.ts';
import type { Hub } from '../../src/start/app.ts';
import { trustCertificate } from '../support/certificate.ts';
import { startDovecot, whyNoDovecot } from '../support/dovecot.ts';
import { countUnseen, startMailServers } from '../support/reply-world.ts';
import {
  addWorkspace,
  callHub,
  startSeveralHubs,
  untilAcquainted,
} from '../support/several-hubs.ts';
import { until } from '../support/until.ts';

const { createWithAutoPromotion, get } = endpoints.uncertainties;

/** A member who is told by mail. */
async function addMember({ deps, database }: Hub, workspace_id: string): Promise<void> {
  const person_id = deps.ids('person');
  await database.write(workspace_id, async (tx) => {
    const created_at = tx.nowMs;
    const person = { person_id, email: 'ada@acme.dev', name: 'Ada', password_hash: '' };
    await insertPerson(tx, { ...person, created_at });
    await insertMembership(tx, { workspace_id, person_id, role: 'member', created_at });
    await putChannel(tx, {
      workspace_id,
      channel_id: deps.ids('notificationChannel'),
      person_id,
      created_at,
      kind: 'mail',
      name: 'Mail',
      host: person.email,
      sealed_target: null,
      shows_text: 1,
      events: '["decision"]',
      questions: 'all',
      after_minutes: 0,
      slack_user: null,
      failure: null,
      stopped_at: null,
    });
  });
}

test('hubs that read the same replies at a time give each answer once', {
  skip: whyNoDovecot(),
}, async (t) => {
  const dovecot = await startDovecot(t);
  trustCertificate(t, dovecot.certificate);
  const servers = await startMailServers(t, dovecot);
  const world = await startSeveralHubs(t);
  const hubs = [await world.start(servers.config), await world.start(servers.config)] as const;
  await untilAcquainted(...hubs);
  const [first] = hubs;
  const { workspaceId, token, repoId } = await addWorkspace(first);
  await addMember(first, workspaceId);
  const run = { workspaceId, repoId, runRef: 'main', status: 'in_progress' as const };
  const { runId } = await callHub(first, endpoints.runs.upsertV1, run, token);
  const { mails } = servers.outgoing;
  const askedIds: string[] = [];
  for (const prompt of ['Go?', 'Stop?', 'Wait?']) {
    const body = { workspaceId, runId, prompt, kind: 'missing_fact' as const, confidence: 0.2 };
    const { uncertaintyId } = await callHub(first, createWithAutoPromotion, body, token);
    askedIds.push(uncertaintyId);
    await until('the question is mailed', () => mails.length === askedIds.length);
    const inReplyTo = mails.at(-1)?.mail.messageId ?? '';
    await servers.mailIn({ inReplyTo, text: `Yes, ${prompt}` });
  }
  await Promise.all(hubs.map((hub) => hub.loops.mailReplies.runOnce()));
  for (const uncertaintyId of askedIds) {
    const { uncertainty } = await callHub(first, get, { workspaceId, uncertaintyId }, token);
    const values = uncertainty.resolutions.map(({ value }) => value);
    assert.deepEqual(values, [`Yes, ${uncertainty.prompt}`]);
  }
  // None was told that its answer came too late.
  assert.deepEqual([mails.length, countUnseen(servers.dovecot)], [askedIds.length, 0]);
});

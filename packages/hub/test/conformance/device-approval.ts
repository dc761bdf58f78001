import assert from 'node:assert/strict';
import { consoleEndpoints } from '@signalbox/contract';
import { issueFirstOwnerLink } from '../../src/people/first-owner-actions.ts';
import { exchange } from '../http-exchange.ts';
import type { Body, SpecClient } from './spec-client.ts';

const { firstOwner, deviceApprovals } = consoleEndpoints;

/** The browser in which a person approves device logins: the first owner of the spec's hub. */
export interface Approver {
  workspaceSlug: string;
  approve(session: Body): Promise<void>;
}

export async function createApprover(spec: SpecClient): Promise<Approver> {
  const linkToken = await issueFirstOwnerLink(spec.harness.hub.database);
  assert.ok(linkToken !== null, 'the hub has no people yet');
  const workspaceSlug = 'lovelace';
  let cookie = '';
  const send = async (path: string, body: unknown) => {
    const headers = { 'sec-fetch-site': 'same-origin', cookie };
    const answer = await exchange(spec.baseUrl, { path, body, headers });
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? cookie;
  };
  await send(firstOwner.create.path, {
    linkToken,
    email: 'ada@acme.dev',
    name: 'Ada Lovelace',
    password: 'violet harbour 9 lanterns',
    workspaceSlug,
    workspaceName: 'Lovelace',
  });
  return {
    workspaceSlug,
    async approve({ deviceId, userCode }) {
      await send(deviceApprovals.open.path, { deviceId });
      await send(deviceApprovals.answer.path, { deviceId, userCode, decision: 'approve' });
    },
  };
}

import assert from 'node:assert/strict';
import { consoleEndpoints } from '@signalbox/contract';
import { signInFirstOwner } from '../support/console-person.ts';
import type { Body, SpecClient } from './spec-client.ts';

const { open, answer } = consoleEndpoints.deviceApprovals;

/** The browser in which a person approves device logins: the first owner of the spec's hub. */
export interface Approver {
  workspaceSlug: string;
  approve(session: Body): Promise<void>;
}

export async function createApprover(spec: SpecClient): Promise<Approver> {
  const { workspaceSlug, send } = await signInFirstOwner(spec.harness);
  return {
    workspaceSlug,
    async approve({ deviceId, userCode }) {
      await send(open.path, { deviceId });
      const { text, body } = await send(answer.path, { deviceId, userCode, decision: 'approve' });
      assert.equal(body.ok, true, text);
    },
  };
}

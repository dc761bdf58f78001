import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleEndpoints } from '@signalbox/contract';
import type { WorkspaceCreation } from '../../src/start/setting-values.ts';
import { addPerson, makeOwner, signInAs } from '../support/people.ts';
import { startTestHub } from '../support/test-hub.ts';

const {
  session,
  workspaceSettings: { create },
} = consoleEndpoints;
const people = ['owner', 'admin', 'member', 'viewer', null] as const;

const rules: [WorkspaceCreation, allowed: readonly (string | null)[]][] = [
  ['admins', ['owner', 'admin']],
  ['everyone', people],
  ['operator', []],
];
for (const [workspaceCreation, allowed] of rules) {
  test(`with the setting ${workspaceCreation}, ${allowed.length} of 5 people may create a workspace`, async (t) => {
    const hub = await startTestHub(t, { config: { workspaceCreation } });
    const { workspaceId } = await makeOwner(hub);
    for (const role of people) {
      const { email } = await addPerson(hub, workspaceId, `person-${role}`, role);
      const browser = await signInAs(hub, email);
      const { workspaceRefusal } = await browser.call(session.get, {});
      assert.equal(workspaceRefusal === null, allowed.includes(role), String(role));
      assert.match(workspaceRefusal ?? 'ask', /ask/);
      const code = await browser.codeOf(create, { slug: `of-${role}`, name: 'Own' });
      assert.equal(code, allowed.includes(role) ? 'ok' : 'NOT_ALLOWED', String(role));
    }
  });
}

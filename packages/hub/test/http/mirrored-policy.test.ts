import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consolePathOf, endpointList, endpoints, mirroredEndpointList } from '@signalbox/contract';
import { deleteMembership, updateRole } from '../../src/access/store.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Role } from '../../src/db/schema/tables.ts';
import { signInFirstOwner } from '../support/console-person.ts';
import { startHomeWorld } from '../support/home-world.ts';
import { exchange } from '../support/http-exchange.ts';

const SECOND_MS = 1_000;

/** Calls that affect a whole workspace: members may not make them, with any scopes. */
const forAdministrators = ['integrationEventsReplay'];
const refusals = ['NOT_ALLOWED', 'WORKSPACE_NOT_FOUND', 'SESSION_REQUIRED'];

test('mirrored rows admit people by their role in the workspace', async (t) => {
  // Without limits, which would refuse calls before they are authorized.
  const config = { tokenRate: 0, workspaceRate: 0, addressRate: 0 };
  // A role is read once a second.
  let laterMs = 0;
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + laterMs };
  const harness = await startHomeWorld(t, { config, clock });
  const { hub, home } = harness;
  const { workspaceId } = home;
  const person = await signInFirstOwner(harness);
  const { body: description } = await exchange(hub.baseUrl, {
    method: 'GET',
    path: endpoints.health.openapi.path,
  });
  const paths = Object.keys(description.paths as object);
  const bound = mirroredEndpointList.filter(({ path }) => paths.includes(path));
  assert.ok(bound.length > 15, 'most are bound');
  /** The code of a refused authorization; undefined when the call reached its handler. */
  const refusalOf = async (row: (typeof bound)[number]) => {
    const request = { ...row.example.request, workspaceId };
    const { body, text } = await person.send(consolePathOf(row), request, row);
    assert.notEqual(body.error, 'NOT_FOUND', `${row.name} has no handler at the console`);
    assert.notEqual(body.error, 'INTERNAL', text);
    assert.notEqual(body.error, 'RATE_LIMITED', text);
    return refusals.includes(String(body.error)) ? body.error : undefined;
  };
  for (const role of ['owner', 'admin', 'member', 'viewer'] satisfies Role[]) {
    await t.test(role, async () => {
      await hub.database.write(null, (tx) => updateRole(tx, workspaceId, person.personId, role));
      laterMs += SECOND_MS;
      for (const row of bound) {
        const mayRead = row.scopes.includes('read') || row.scopes.length === 0;
        const isRefused =
          (role === 'viewer' && !mayRead) ||
          (role === 'member' && forAdministrators.includes(row.name));
        const expected = isRefused ? 'NOT_ALLOWED' : undefined;
        assert.equal(await refusalOf(row), expected, row.name);
      }
    });
  }
  await t.test('a person of another workspace', async () => {
    await hub.database.write(null, (tx) => deleteMembership(tx, workspaceId, person.personId));
    laterMs += SECOND_MS;
    for (const row of bound) assert.equal(await refusalOf(row), 'WORKSPACE_NOT_FOUND', row.name);
  });
});

test('every mirrored row is a control plane endpoint that names its workspace', () => {
  for (const row of mirroredEndpointList) {
    assert.ok(endpointList.includes(row), row.name);
    assert.ok('workspaceId' in row.request.properties, row.name);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleEndpoints, endpoints } from '@signalbox/contract';
import { firstOwnerUrl, issueFirstOwnerLink } from '../../src/people/create-first-owner.ts';
import { ensureDevelopmentWorkspace } from '../../src/workspaces/create.ts';
import { listAudit, makeOwner, ownerDraft } from '../support/people.ts';
import { startTestHub } from '../support/test-hub.ts';

const { firstOwner, session } = consoleEndpoints;

test('the link creates the first owner once and signs them in', async (t) => {
  const hub = await startTestHub(t);
  const linkToken = await issueFirstOwnerLink(hub.database);
  assert.ok(linkToken !== null);
  const browser = hub.visitor();
  assert.equal((await browser.call(session.get, {})).firstOwnerPending, true);
  assert.equal((await browser.call(firstOwner.check, { linkToken })).valid, true);
  const state = await browser.call(firstOwner.create, { linkToken, ...ownerDraft });
  assert.equal(state.person?.email, 'ada@acme.dev');
  assert.deepEqual(
    state.workspaces.map(({ slug, name, role }) => [slug, name, role]),
    [['acme', 'Acme', 'owner']],
  );
  assert.equal(state.firstOwnerPending, false);
  assert.deepEqual(await browser.call(session.get, {}), state);
  assert.equal((await browser.call(firstOwner.check, { linkToken })).valid, false);
  const again = { linkToken, ...ownerDraft };
  assert.equal(await browser.codeOf(firstOwner.create, again), 'FIRST_OWNER_LINK_INVALID');
  assert.equal(await issueFirstOwnerLink(hub.database), null, 'no link once a person exists');
  const [entry] = await listAudit(hub, state.workspaces[0]?.workspaceId ?? '');
  assert.equal(entry?.action, 'first-owner.create');
});

test('a link that 20 requests use at once creates one owner', async (t) => {
  const hub = await startTestHub(t);
  const linkToken = (await issueFirstOwnerLink(hub.database)) ?? '';
  const codes = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      hub.visitor().codeOf(firstOwner.create, {
        linkToken,
        ...ownerDraft,
        email: `person${index}@acme.dev`,
        workspaceSlug: `acme-${index}`,
      }),
    ),
  );
  assert.equal(codes.filter((code) => code === 'ok').length, 1);
  assert.equal(codes.filter((code) => code === 'FIRST_OWNER_LINK_INVALID').length, 19);
  for (const table of ['people', 'workspaces', 'memberships', 'sessions']) {
    const rows = await hub.database.reader.allSql(`SELECT * FROM ${table}`, []);
    assert.equal(rows.length, 1, table);
  }
});

test('a new link replaces the previous one', async (t) => {
  const hub = await startTestHub(t);
  const old = (await issueFirstOwnerLink(hub.database)) ?? '';
  const latest = (await issueFirstOwnerLink(hub.database)) ?? '';
  const check = async (linkToken: string) =>
    (await hub.visitor().call(firstOwner.check, { linkToken })).valid;
  assert.deepEqual(
    [await check(old), await check(latest), await check('guess')],
    [false, true, false],
  );
});

test('a refused form does not use the link up', async (t) => {
  const hub = await startTestHub(t);
  await ensureDevelopmentWorkspace(hub.deps);
  const linkToken = (await issueFirstOwnerLink(hub.database)) ?? '';
  const browser = hub.visitor();
  const rows: [change: Partial<typeof ownerDraft>, code: string, path: string | undefined][] = [
    [{ password: 'P@ssw0rd123!' }, 'INVALID_REQUEST', '/password'],
    [{ password: 'ada@acme.dev' }, 'INVALID_REQUEST', '/password'],
    [{ password: 'short 7' }, 'INVALID_REQUEST', '/password'],
    [{ password: 'x'.repeat(129) }, 'INVALID_REQUEST', '/password'],
    [{ email: 'no-at-sign' }, 'INVALID_REQUEST', '/email'],
    [{ workspaceSlug: 'Not A Slug' }, 'INVALID_REQUEST', '/workspaceSlug'],
    [{ workspaceSlug: 'dev' }, 'SLUG_TAKEN', undefined],
  ];
  for (const [change, code, path] of rows) {
    const { body } = await browser.send(firstOwner.create.path, {
      linkToken,
      ...ownerDraft,
      ...change,
    });
    const [detail] = (body.details ?? []) as { path: string }[];
    assert.deepEqual([body.error, detail?.path], [code, path], JSON.stringify(change));
  }
  assert.equal(await browser.codeOf(firstOwner.create, { linkToken, ...ownerDraft }), 'ok');
});

test('the printed address keeps the token in its fragment', () => {
  const url = new URL(firstOwnerUrl('http://127.0.0.1:4400', 'a-token_1'));
  assert.equal(url.href, 'http://127.0.0.1:4400/first-owner#token=a-token_1');
});

test('an owner sees only their own workspace at the console', async (t) => {
  const hub = await startTestHub(t);
  const dev = await ensureDevelopmentWorkspace(hub.deps);
  assert.equal((await ensureDevelopmentWorkspace(hub.deps)).workspace_id, dev.workspace_id);
  const { browser, workspaceId } = await makeOwner(hub);
  const path = endpoints.repositories.list.path.replace('/control-plane/', '/console-api/');
  assert.equal((await browser.send(path, { workspaceId })).status, 200);
  const foreign = await browser.send(path, { workspaceId: dev.workspace_id });
  assert.equal(foreign.body.error, 'WORKSPACE_NOT_FOUND');
});

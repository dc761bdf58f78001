import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { exitCodes } from '../src/index.ts';
import { type HubPlace, onTerminal, startHub, useServiceToken } from './harness.ts';

let place: HubPlace;
before(async () => {
  place = await startHub();
  const login = place.start(['login', '--no-browser', '-w', place.workspaceSlug]);
  const [userCode] = await login.says(/\b[B-Z]{4}-[B-Z]{4}\b/);
  const [deviceId] = await login.says(/dev_[0-9a-z]+/);
  await place.console.deviceApprovals.open({ deviceId });
  await place.console.deviceApprovals.answer({ deviceId, decision: 'approve', userCode });
  assert.equal((await login.ended).exitCode, exitCodes.ok);
});
after(async () => await place.end());

async function json(...args: string[]) {
  const { stdout, stderr, exitCode } = await place.run([...args, '--json']);
  assert.equal(exitCode, exitCodes.ok, stderr);
  return JSON.parse(stdout);
}

async function refusal(args: string[], env: NodeJS.ProcessEnv = {}) {
  const { stderr, exitCode } = await place.run([...args, '--json'], { env });
  assert.notEqual(exitCode, exitCodes.ok);
  return JSON.parse(stderr) as { error: string; message: string; fix: string };
}

/** The lines of a list on terminals of three widths; none is wider than its terminal. */
async function screens(...args: string[]): Promise<string[]> {
  const screens: string[] = [];
  for (const columns of [60, 80, 200]) {
    const { output } = await onTerminal(place, place.directory, columns, args).ended;
    assert.ok(output.includes('\u001b['), 'colours are on');
    const text = stripVTControlCharacters(output);
    for (const line of text.split(/\r?\n/)) assert.ok(line.length <= columns, line);
    screens.push(text);
  }
  return screens;
}

test('members are listed, invited, and removed; a link is printed once', async () => {
  const invited = await place.run(['members', 'invite', 'Grace@acme.test', '--role', 'viewer']);
  assert.equal(invited.exitCode, exitCodes.ok, invited.stderr);
  assert.match(invited.stdout, /^http\S+\/invitation#token=\S+\n$/);
  assert.match(invited.stderr, /grace@acme\.test.*once, for 7 days/);
  const list = await json('members');
  assert.equal(list.members[0].role, 'owner');
  assert.equal(list.invitations[0].email, 'grace@acme.test');
  assert.ok(!JSON.stringify(list).includes('token='));
  for (const text of await screens('members')) {
    assert.match(text, /owner +ada@acme\.test +Ada/);
    assert.match(text, /viewer +grace@acme\.test +invited/);
  }
  assert.match((await json('members', 'remove', 'grace@acme.test')).invitationId, /^inv_/);
  assert.deepEqual((await json('members')).invitations, []);
});

test('a role changes only as the person may change it', async () => {
  const last = await refusal(['members', 'role', 'ada@acme.test', 'viewer']);
  assert.equal(last.error, 'LAST_OWNER');
  const unknown = await refusal(['members', 'role', 'nobody@acme.test', 'viewer']);
  assert.equal(unknown.error, 'MEMBER_NOT_FOUND');
  assert.match(unknown.fix, /signalbox members/);
  const wrong = await place.run(['members', 'role', 'ada@acme.test', 'king']);
  assert.equal(wrong.exitCode, exitCodes.usage);
});

test('a token is minted, shown once, listed without itself, and revoked', async () => {
  const minted = await place.run(['tokens', 'create', 'ci', '--scope', 'read', '--expires', '30d']);
  assert.equal(minted.exitCode, exitCodes.ok, minted.stderr);
  const token = minted.stdout.trim();
  assert.match(token, /^sbx_s_\w+$/);
  assert.match(minted.stderr, /ci: read\. It ends in 30d/);
  const list = await json('tokens');
  assert.equal(list.serviceTokens[0].name, 'ci');
  assert.equal(list.deviceTokens.length, 1);
  assert.ok(!JSON.stringify(list).includes(token));
  const id = String(list.serviceTokens[0].tokenId).slice(-8);
  for (const text of await screens('tokens')) {
    assert.match(text, new RegExp(`program +ci +${id}`));
    assert.match(text, /machine +\S+ +\w{8}/);
  }
  assert.equal((await place.run(['tokens', 'revoke', id])).exitCode, exitCodes.ok);
  const ended = await refusal(['whoami'], { SIGNALBOX_TOKEN: token });
  assert.equal(ended.error, 'TOKEN_REVOKED');
});

test('the token of a program manages neither members nor tokens', async () => {
  const token = await useServiceToken(place);
  delete place.env.SIGNALBOX_TOKEN;
  for (const args of [['members'], ['tokens'], ['tokens', 'create', 'x']]) {
    const { error, message } = await refusal(args, { SIGNALBOX_TOKEN: token });
    assert.equal(error, 'NOT_ALLOWED');
    assert.match(message, /Only people may do this/);
  }
});

test('context is added, listed, searched and shown', async () => {
  const decision = 'Endpoints reveal no versions';
  const added = await json('context', 'add', decision, '--kind', 'decision', '--ref', 'adr/1');
  assert.equal(added.created, true);
  const again = await json(
    'context',
    'add',
    `${decision}.`,
    '--kind',
    'decision',
    '--ref',
    'adr/1',
  );
  assert.deepEqual([again.created, again.itemId], [false, added.itemId]);
  const piped = await place.run(['context', 'add', '--title', 'Style'], {
    input: 'Short words.\n',
  });
  assert.equal(piped.exitCode, exitCodes.ok, piped.stderr);
  assert.equal((await json('context')).items.length, 2);
  const found = await json('context', 'versions', 'endpoints');
  assert.deepEqual(
    found.items.map(({ itemId }: { itemId: string }) => itemId),
    [added.itemId],
  );
  assert.deepEqual((await json('context', '--kind', 'document')).items, []);
  const id = String(added.itemId).slice(-8);
  for (const text of await screens('context')) assert.match(text, new RegExp(`${id} +decision`));
  const shown = await place.run(['context', 'show', id]);
  assert.match(shown.stdout, /Endpoints reveal no versions\.\n$/);
  const both = await refusal(['context', 'add', 'text', '--file', 'x']);
  assert.equal(both.error, 'USAGE');
});

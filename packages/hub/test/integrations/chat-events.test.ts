import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ContextItem, consoleEndpoints, endpoints } from '@signalbox/contract';
import { mapChatTeam } from '../../src/integrations/chat-teams.ts';
import {
  CHAT_SIGNATURE_HEADER,
  CHAT_TIMESTAMP_HEADER,
  CHAT_WINDOW_MS,
} from '../../src/integrations/proofs.ts';
import {
  botMessage,
  callback,
  deletion,
  edit,
  fileShare,
  mention,
  message,
  reply,
  tombstone,
} from '../support/chat-payloads.ts';
import {
  CHAT_SECRET,
  countRows,
  type IntegrationWorld,
  signatureHeaders,
  startIntegrationWorld,
  TEAM,
} from '../support/integration-world.ts';
import { readKept } from '../support/test-engine.ts';

const { contextItems } = endpoints;
const TS = '1793610000.000100';

async function itemsOf(world: IntegrationWorld): Promise<ContextItem[]> {
  const { workspaceId } = world.home;
  const { items } = await world.call(contextItems.list, { workspaceId, includeSuperseded: true });
  const whole = items.map(({ itemId }) => world.call(contextItems.get, { workspaceId, itemId }));
  return (await Promise.all(whole)).map(({ item }) => item).reverse();
}

const challenge = {
  token: 'Jhj5dZrVaK7ZwHHjRyZWjbDl',
  challenge: '3eZbrw1aBm2r',
  type: 'url_verification',
};

test('a chat event is accepted only with a fresh signature over its exact bytes', async (t) => {
  const world = await startIntegrationWorld(t);
  const body = JSON.stringify(challenge);
  const bytes = Buffer.from(body);
  const signed = (deltaMs: number, secret = CHAT_SECRET) =>
    signatureHeaders(bytes, { nowMs: world.clock.nowMs() + deltaMs, secret });
  const right = signed(0);
  const without = (name: string) =>
    Object.fromEntries(Object.entries(right).filter(([header]) => header !== name));
  const signature = right[CHAT_SIGNATURE_HEADER] ?? '';
  const verdicts: [what: string, headers: Record<string, string>, status: number][] = [
    ['the right signature', right, 200],
    ['the same once more', right, 200],
    ['five minutes ago', signed(-CHAT_WINDOW_MS), 200],
    ['in five minutes', signed(CHAT_WINDOW_MS), 200],
    ['longer ago', signed(-CHAT_WINDOW_MS - 1_000), 401],
    ['further ahead', signed(CHAT_WINDOW_MS + 1_000), 401],
    ['another secret', signed(0, 'another'), 401],
    ['no signature', without(CHAT_SIGNATURE_HEADER), 401],
    ['no time', without(CHAT_TIMESTAMP_HEADER), 401],
    ['nothing', {}, 401],
    [
      'a newer time with an old signature',
      { ...right, [CHAT_TIMESTAMP_HEADER]: '1793610001' },
      401,
    ],
    ['an invalid timestamp', { ...right, [CHAT_TIMESTAMP_HEADER]: 'now' }, 401],
    ['half a signature', { ...right, [CHAT_SIGNATURE_HEADER]: signature.slice(0, 20) }, 401],
    ['another version', { ...right, [CHAT_SIGNATURE_HEADER]: `v1${signature.slice(2)}` }, 401],
    ['an empty signature', { ...right, [CHAT_SIGNATURE_HEADER]: '' }, 401],
  ];
  for (const [what, headers, status] of verdicts) {
    const answer = await world.sendChat(body, headers);
    assert.equal(answer.status, status, `${what}: ${answer.text}`);
    if (status === 401) assert.equal(answer.body.error, 'INTEGRATION_UNAUTHORIZED', what);
    else assert.equal(answer.body.challenge, challenge.challenge);
  }
});

test('a signature covers the bytes, before anything reads them', async (t) => {
  const world = await startIntegrationWorld(t);
  const nowMs = world.clock.nowMs();
  const headers = signatureHeaders(Buffer.from(JSON.stringify(challenge)), { nowMs });
  for (const body of [JSON.stringify(challenge, null, 1), 'no JSON', '']) {
    const answer = await world.sendChat(body, headers);
    assert.equal(answer.status, 401, `${body}: ${answer.text}`);
  }
  const signedNonsense = await world.sendChat('no JSON');
  assert.equal(
    signedNonsense.body.error,
    'INVALID_JSON',
    'a signed request gets the precise error',
  );
  world.clock.advance(CHAT_WINDOW_MS + 1_000);
  const replayed = await world.sendChat(JSON.stringify(challenge), headers);
  assert.equal(replayed.status, 401, 'an intercepted request cannot be replayed later');
});

test('without the setting every chat event is refused, signed or not', async (t) => {
  const world = await startIntegrationWorld(t, { config: { chatSecrets: [] } });
  assert.equal((await world.sendChat(challenge)).status, 401);
  const bytes = Buffer.from(JSON.stringify(challenge));
  const headers = signatureHeaders(bytes, { nowMs: world.clock.nowMs(), secret: '' });
  assert.equal((await world.sendChat(challenge, headers)).status, 401);
});

test('during a rotation the old and the new secret both work', async (t) => {
  const world = await startIntegrationWorld(t, { config: { chatSecrets: ['new', CHAT_SECRET] } });
  const bytes = Buffer.from(JSON.stringify(challenge));
  for (const secret of ['new', CHAT_SECRET]) {
    const headers = signatureHeaders(bytes, { nowMs: world.clock.nowMs(), secret });
    assert.equal((await world.sendChat(challenge, headers)).status, 200, secret);
  }
});

test('messages, replies, mentions and files become context items in their threads', async (t) => {
  const world = await startIntegrationWorld(t);
  await world.mapTeam();
  await world.chat(callback(message('Is 1 &lt; 2 &amp;&amp; 3 &gt; 2?')));
  await world.chat(callback(reply('It is.', '1793610001.000100', TS)));
  await world.chat(callback(mention('<@U0LAN0Z89> may it report the version?')));
  await world.chat(callback(fileShare('The plan')));
  const items = await itemsOf(world);
  assert.deepEqual(
    items.map(({ text }) => text).sort(),
    [
      '<@U0LAN0Z89> may it report the version?',
      'Is 1 < 2 && 3 > 2?',
      'It is.',
      'The plan\n\nFiles: balancer.pdf (application/pdf, 104321 bytes)',
    ].sort(),
  );
  for (const item of items) {
    assert.partialDeepStrictEqual(item, { kind: 'chat_message', trust: 'external' });
    assert.equal(item.source, `slack:${TEAM}`);
  }
  const [question, answer] = ['Is 1 < 2 && 3 > 2?', 'It is.'].map((text) =>
    items.find((item) => item.text === text),
  );
  assert.equal(question?.threadRef, `slack:${TEAM}/C0LAN2Q65/${TS}`);
  assert.equal(answer?.threadRef, question?.threadRef);
  assert.equal(question?.occurredAt, new Date(1_793_610_000_000).toISOString());
});

test('a repeated delivery changes nothing, and neither does the mention event of a message', async (t) => {
  const world = await startIntegrationWorld(t);
  await world.mapTeam();
  await world.addTrigger({ match: { source: 'slack', type: 'app_mention' } });
  const asked = callback(mention('<@U0LAN0Z89> plan this', TS));
  const [first, ...again] = await Promise.all(Array.from({ length: 20 }, () => world.chat(asked)));
  assert.ok(first);
  const bytes = JSON.stringify(asked);
  const retry = await world.sendChat(bytes, {
    ...signatureHeaders(Buffer.from(bytes), { nowMs: world.clock.nowMs() }),
    'x-slack-retry-num': '1',
    'x-slack-retry-reason': 'http_timeout',
  });
  const all = [first, ...again, retry.body];
  assert.equal(new Set(all.map(({ eventId }) => eventId)).size, 1);
  assert.equal(all.filter(({ duplicate }) => duplicate === false).length, 1);
  const asMessage = await world.chat(callback(message('<@U0LAN0Z89> plan this', TS)));
  assert.equal(asMessage.duplicate, false);
  assert.equal((await itemsOf(world)).length, 1);
  assert.equal(await countRows(world, 'jobs'), 1);
});

test('an edit supersedes its message, in any order of arrival', async (t) => {
  const world = await startIntegrationWorld(t);
  await world.mapTeam();
  const [first, second] = ['1793610100.000100', '1793610200.000100'];
  await world.chat(callback(message('one', TS)));
  await world.chat(callback(edit('two', { ts: TS, editedTs: first, before: 'one' })));
  await world.chat(callback(edit('three', { ts: TS, editedTs: second, before: 'two' })));
  const stale = await world.chat(callback(edit('two', { ts: TS, editedTs: first, before: 'one' })));
  assert.equal(stale.ignored, 'stale');
  const unfurled = edit('three', { ts: TS, editedTs: '1793610300.000100', before: 'three' });
  assert.equal((await world.chat(callback(unfurled))).ignored, 'unchanged');
  const items = await itemsOf(world);
  assert.equal(items.length, 3);
  const current = items.filter(({ supersededBy }) => supersededBy === null);
  assert.deepEqual(
    current.map(({ text }) => text),
    ['three'],
  );
  // Here the edit arrives before its message.
  const other = '1793610005.000100';
  await world.chat(callback(edit('after', { ts: other, editedTs: second, before: 'before' })));
  await world.chat(callback(message('before', other)));
  const now = (await itemsOf(world)).filter(({ supersededBy }) => supersededBy === null);
  assert.deepEqual(now.map(({ text }) => text).sort(), ['after', 'three']);
});

test('a deletion ends the message and its edits, and deletes their text everywhere', async (t) => {
  const world = await startIntegrationWorld(t);
  await world.mapTeam();
  const said = await world.chat(callback(message('wordone', TS)));
  const editedTs = '1793610100.000100';
  await world.chat(callback(edit('wordtwo', { ts: TS, editedTs, before: 'wordone' })));
  await world.chat(callback(deletion(TS, 'wordtwo')));
  await world.chat(callback(message('late wordthree', TS)));
  const items = await itemsOf(world);
  assert.equal(items.length, 2);
  for (const item of items) {
    assert.equal(item.text, '');
    assert.equal(item.validTo, new Date(1_793_610_900_000).toISOString());
  }
  const { workspaceId } = world.home;
  const found = await world.call(contextItems.search, { workspaceId, query: 'wordone wordtwo' });
  assert.deepEqual(found.items, []);
  const event = await world.readEvent(said.eventId ?? '');
  assert.equal(event.isForgotten, true);
  // A message whose deletion arrives first is never shown.
  await world.chat(callback(deletion('1793610007.000100', 'never')));
  await world.chat(callback(message('never', '1793610007.000100')));
  assert.ok((await itemsOf(world)).every(({ text }) => text === ''));
});

test('a tombstone in place of a thread’s first message ends the message, too', async (t) => {
  const world = await startIntegrationWorld(t);
  await world.mapTeam();
  await world.chat(callback(message('first', TS)));
  await world.chat(callback(reply('second', '1793610001.000100', TS)));
  await world.chat(callback(tombstone(TS, 'first')));
  const items = await itemsOf(world);
  assert.deepEqual(items.map(({ text, validTo }) => `${text}${validTo === null}`).sort(), [
    'false',
    'secondtrue',
  ]);
});

test('an ignored event is answered with the reason and recorded in the ledger', async (t) => {
  const world = await startIntegrationWorld(t);
  await world.mapTeam();
  const joined = message('<@U061F7AUR> has joined', TS, { subtype: 'channel_join' });
  const ignored: [inner: Record<string, unknown>, reason: string][] = [
    [botMessage('build passed'), 'bot_message'],
    [message('by an app', TS, { bot_id: 'B19LU7CSY', app_id: 'A1' }), 'bot_message'],
    [joined, 'event_type'],
    [{ type: 'reaction_added', user: 'U061F7AUR', reaction: 'eyes' }, 'event_type'],
    [message('no place', 'yesterday'), 'event_type'],
    [{}, 'event_type'],
  ];
  for (const [inner, reason] of ignored) {
    const answer = await world.chat(callback(inner));
    assert.equal(answer.ignored, reason, JSON.stringify(inner));
    const event = await world.readEvent(answer.eventId ?? '');
    assert.partialDeepStrictEqual(event, { status: 'ignored', ignored: reason });
  }
  assert.deepEqual(await itemsOf(world), []);
  const limited = { type: 'app_rate_limited', team_id: TEAM, minute_rate_limited: 1_793_610_000 };
  assert.deepEqual(await world.chat(limited), { ok: true, ignored: 'event_type' });
  for (const missing of ['event_id', 'team_id']) {
    const { [missing]: _unused, ...rest } = callback(message('hello'));
    assert.equal((await world.sendChat(rest)).body.error, 'INVALID_REQUEST', missing);
  }
  const bare = await world.sendChat({ type: 'url_verification' });
  assert.equal(bare.body.error, 'INVALID_REQUEST');
});

test('for a team without a workspace only the arrival of an event is recorded', async (t) => {
  const world = await startIntegrationWorld(t);
  const word = 'unmappedC4nary';
  const knock = callback(message(word));
  const answer = await world.chat(knock);
  assert.partialDeepStrictEqual(answer, { ignored: 'team_unmapped', duplicate: false });
  assert.partialDeepStrictEqual(await world.chat(knock), { ...answer, duplicate: true });
  assert.equal(await countRows(world, 'integration_events'), 1);
  const kept = await readKept(world.dataDir);
  assert.equal(kept.includes(word), false);
  const { workspaceId } = world.home;
  const { events } = await world.call(endpoints.integrationEvents.list, { workspaceId });
  assert.deepEqual(events, [], 'the event belongs to no workspace');
  await world.mapTeam();
  assert.equal((await world.chat(callback(message(word)))).ignored, undefined);
});

test('a team belongs to one workspace until that workspace removes it', async (t) => {
  const world = await startIntegrationWorld(t);
  const { chatTeams, workspaceSettings } = consoleEndpoints;
  const { workspaceId } = world.home;
  await world.mapTeam();
  const made = await world.atConsole(workspaceSettings.create, { slug: 'rival', name: 'Rival' });
  const rival = { workspaceId: made.workspace.workspaceId, teamId: TEAM, name: 'Mine' };
  const takeOver = () => world.hub.database.write(null, (tx) => mapChatTeam(tx, rival));
  await assert.rejects(takeOver(), { code: 'INVALID_REQUEST' });
  await world.mapTeam();
  const { chatTeams: teams } = await world.atConsole(chatTeams.list, { workspaceId });
  assert.deepEqual(
    teams.map(({ teamId, name }) => [teamId, name]),
    [[TEAM, 'Acme']],
  );
  const ref = { workspaceId, teamId: TEAM };
  assert.equal((await world.atConsole(chatTeams.remove, ref)).removed, true);
  assert.equal((await world.atConsole(chatTeams.remove, ref)).removed, false);
  await takeOver();
  assert.equal((await world.chat(callback(message('hello')))).ignored, undefined);
  assert.deepEqual(await itemsOf(world), [], 'the event goes to the new workspace of the team');
});

test('with the policy metadata no text of a message is stored', async (t) => {
  const world = await startIntegrationWorld(t);
  await world.mapTeam();
  const { workspaceId } = world.home;
  await world.atConsole(consoleEndpoints.workspaceSettings.update, {
    workspaceId,
    dataPolicy: { contentStorage: 'metadata' },
  });
  const word = 'metadataC4nary';
  await world.chat(callback(message(word, TS)));
  const editedTs = '1793610100.000100';
  await world.chat(callback(edit(`${word} again`, { ts: TS, editedTs, before: word })));
  const kept = await readKept(world.dataDir);
  assert.equal(kept.includes(word), false);
  assert.equal((await itemsOf(world)).length, 2);
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { consoleEndpoints, endpoints } from '@signalbox/contract';
import { insertMembership } from '../../src/access/store.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { callback, edit, mention, message } from '../support/chat-payloads.ts';
import { countRows, startIntegrationWorld, TEAM } from '../support/integration-world.ts';

const { chatTeams } = consoleEndpoints;
const DAY_MS = 86_400_000;

async function setup(t: TestContext) {
  const world = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  const claim = async (teamId = TEAM, of = workspaceId) => {
    const { chatTeam } = await world.atConsole(chatTeams.put, {
      workspaceId: of,
      teamId,
      name: 'Acme',
    });
    return chatTeam;
  };
  const codeOf = async (teamId = TEAM, of = workspaceId) => {
    const { status, confirmation } = await claim(teamId, of);
    assert.equal(status, 'waiting');
    return confirmation?.code ?? '';
  };
  const list = async () => {
    const { chatTeams: teams } = await world.atConsole(chatTeams.list, { workspaceId });
    return teams.map(({ teamId, status }) => [teamId, status]);
  };
  const texts = async (of = workspaceId) => {
    const rows = await world.hub.database.reader.allSql<{ text: string }>(
      'SELECT text FROM context_items WHERE workspace_id = ?',
      [of],
    );
    return rows.map(({ text }) => text);
  };
  return { ...world, workspaceId, claim, codeOf, list, texts };
}

/** A workspace of the operator, in which the owner of `home` is owner as well. */
async function addRival({ hub, owner }: Awaited<ReturnType<typeof setup>>): Promise<string> {
  const { workspace_id } = await hub.database.write(null, async (tx) => {
    const row = await createWorkspace(hub.deps, tx, { slug: 'rival', name: 'Rival' });
    await insertMembership(tx, {
      workspace_id: row.workspace_id,
      person_id: owner.personId,
      role: 'owner',
      created_at: tx.nowMs,
    });
    return row;
  });
  return workspace_id;
}

test('a team belongs to a workspace once a message of the team has brought the code', async (t) => {
  const world = await setup(t);
  const code = await world.codeOf();
  assert.match(code, /^signalbox-[B-Z]{4}-[B-Z]{4}$/);
  const before = await world.chat(callback(message('confidential', '1793610000.000100')));
  assert.equal(before.ignored, 'team_unmapped');
  const proof = await world.chat(
    callback(mention(`<@U1> ${code.toLowerCase()} please`, '1793610000.000200')),
  );
  assert.equal(proof.ignored, 'team_confirmation');
  assert.deepEqual(await world.list(), [[TEAM, 'mapped']]);
  const after = await world.chat(callback(message('hello', '1793610000.000300')));
  assert.equal(after.ignored, undefined);
  assert.deepEqual(await world.texts(), ['hello']);
  const { events } = await world.call(endpoints.integrationEvents.list, {
    workspaceId: world.workspaceId,
  });
  assert.equal(JSON.stringify(events).toLowerCase().includes(code.toLowerCase()), false);
  const entry = await world.hub.database.reader.firstSql<{ data: string }>(
    `SELECT data FROM audit_entries WHERE action = 'chat-team.add'`,
    [],
  );
  assert.match(entry?.data ?? '', /confirmedBy/);
});

test('a workspace that only knows the id of a team reads none of its messages', async (t) => {
  const world = await setup(t);
  const rival = await addRival(world);
  const rivalsCode = await world.codeOf(TEAM, rival);
  await world.chat(callback(message('confidential', '1793610000.000100')));
  assert.deepEqual(await world.texts(rival), []);
  const code = await world.codeOf();
  await world.chat(callback(message(code, '1793610000.000200')));
  assert.deepEqual(await world.list(), [[TEAM, 'mapped']]);
  // The team belongs to its workspace now, so the other code is an ordinary message there.
  await world.chat(callback(message(rivalsCode, '1793610000.000300')));
  assert.deepEqual(await world.texts(rival), []);
  assert.deepEqual(await world.texts(), [rivalsCode]);
});

const failures: [string, (world: Awaited<ReturnType<typeof setup>>, code: string) => unknown][] = [
  ['another code', (_world, code) => callback(message(code.replace(/.$/, swap)))],
  ['the code in a message of another team', (_w, code) => callback(message(code), OTHER_TEAM)],
  [
    'the code in an edited message',
    (_world, code) =>
      callback(
        edit(code, { ts: '1793610000.000100', editedTs: '1793610000.000200', before: null }),
      ),
  ],
  [
    'the code after a day',
    ({ clock }, code) => {
      clock.advance(DAY_MS);
      return callback(message(code));
    },
  ],
];
const OTHER_TEAM = { team_id: 'T0OTHER' };
const swap = (letter: string) => (letter === 'B' ? 'C' : 'B');
for (const [what, make] of failures) {
  test(`${what} proves nothing`, async (t) => {
    const world = await setup(t);
    const answer = await world.chat(await make(world, await world.codeOf()));
    assert.equal(answer.ignored, 'team_unmapped');
    assert.equal(await countRows(world, 'chat_teams'), 0);
  });
}

test('the code of a person who may not manage teams any more proves nothing', async (t) => {
  const world = await setup(t);
  const code = await world.codeOf();
  await world.hub.database.write(null, (tx) =>
    tx.runSql(`UPDATE memberships SET role = 'member' WHERE workspace_id = ?`, [world.workspaceId]),
  );
  assert.equal((await world.chat(callback(message(code)))).ignored, 'team_unmapped');
});

test('a new claim replaces the code, and a removed one ends it', async (t) => {
  const world = await setup(t);
  const { workspaceId } = world;
  const first = await world.codeOf();
  const second = await world.codeOf();
  assert.notEqual(first, second);
  assert.equal(
    (await world.chat(callback(message(first, '1793610000.000100')))).ignored,
    'team_unmapped',
  );
  const ref = { workspaceId, teamId: TEAM };
  assert.equal((await world.atConsole(chatTeams.remove, ref)).removed, true);
  assert.equal((await world.atConsole(chatTeams.remove, ref)).removed, false);
  assert.equal(
    (await world.chat(callback(message(second, '1793610000.000200')))).ignored,
    'team_unmapped',
  );
});

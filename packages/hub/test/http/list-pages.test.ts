import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { consoleEndpointList, type Endpoint, endpointList, idPrefixes } from '@signalbox/contract';
import { startConsoleWorld } from '../support/console-world.ts';
import { startHomeWorld } from '../support/home-world.ts';
import { logDeviceIn } from '../support/people.ts';

/* The rules of lists, for every endpoint that answers in pages. */

const isList = ({ request }: Endpoint) => 'cursor' in request.properties;
/** Programs may not ask these. */
const isAdministration = ({ tag }: Endpoint) => tag === 'Administration';
const encode = (text: string) => Buffer.from(text).toString('base64url');
const idPart = '1j78s1co0003qjivc1or';

type Ask = (fields: Record<string, unknown>) => Promise<{ status: number; body: unknown }>;

/** Every list, with a function that asks it as somebody who may. */
async function startLists(t: TestContext): Promise<[name: string, ask: Ask][]> {
  const { send, home } = await startHomeWorld(t);
  const { hub, browsers, workspaceId } = await startConsoleWorld(t);
  const machine = hub.visitor().withToken(await logDeviceIn(hub, browsers.owner));
  const plain = endpointList
    .filter((row) => isList(row) && !isAdministration(row) && row.path.startsWith('/control-plane'))
    .map(({ name, path, example }): [string, Ask] => [
      name,
      (fields) => send(path, { ...example.request, workspaceId: home.workspaceId, ...fields }),
    ]);
  const ofConsole = consoleEndpointList
    .filter(isList)
    .map(({ name, path, example }): [string, Ask] => [
      name,
      (fields) => browsers.owner.send(path, { ...example.request, workspaceId, ...fields }),
    ]);
  const ofMachines = endpointList
    .filter((row) => isList(row) && isAdministration(row))
    .map(({ name, path, example }): [string, Ask] => [
      name,
      (fields) => machine.send(path, { ...example.request, workspaceId, ...fields }),
    ]);
  assert.ok(plain.length >= 9 && ofConsole.length >= 3, 'the contract has lists');
  assert.ok(ofMachines.length >= 4, 'people have lists on their machines');
  return [...plain, ...ofConsole, ...ofMachines];
}

function assertRefuses(answer: { body: unknown }, path: string, about: string): void {
  const { error, details } = answer.body as { error?: string; details?: { path: string }[] };
  assert.equal(error, 'INVALID_REQUEST', `${about}: ${JSON.stringify(answer.body)}`);
  assert.equal(details?.[0]?.path, path, about);
}

const forged = [
  ...['', 'x', '%%%', 'page 2', encode('')],
  ...[`seq_0`, 'seq_01', 'seq_-1', 'seq_1e3', `seq_${'9'.repeat(17)}`].map(encode),
  ...['ctx_0', 'ctx_00:99999999999999999', 'ctx_search:-1'].map(encode),
  ...Object.values(idPrefixes).flatMap((prefix) => [
    // As in the answers that name it; with a NUL, which PostgreSQL cannot store; padded.
    ...[`${prefix}_${idPart}`, encode(`${prefix}_\0`), `${encode(`${prefix}_${idPart}`)}=`],
  ]),
];

test('every list refuses a cursor that no list gave', async (t) => {
  for (const [name, ask] of await startLists(t)) {
    await t.test(name, async () => {
      for (const cursor of forged) {
        assertRefuses(await ask({ cursor }), '/cursor', `${name} with ${cursor}`);
      }
    });
  }
});

test('every list refuses the cursors of all other lists', async (t) => {
  const keys = [...Object.values(idPrefixes).map((prefix) => `${prefix}_${idPart}`), 'seq_1'];
  for (const [name, ask] of await startLists(t)) {
    await t.test(name, async () => {
      const taken: string[] = [];
      for (const key of keys) {
        const answer = await ask({ cursor: encode(key) });
        if (answer.status === 200) taken.push(key);
        else assertRefuses(answer, '/cursor', `${name} with the cursor of ${key}`);
      }
      assert.ok(taken.length <= 1, `${name} takes the cursors of ${taken}`);
    });
  }
});

test('every list refuses a page of no rows and one of more than 200', async (t) => {
  for (const [name, ask] of await startLists(t)) {
    await t.test(name, async () => {
      for (const limit of [0, 201, 1.5]) assertRefuses(await ask({ limit }), '/limit', name);
      assert.equal((await ask({ limit: 200 })).status, 200);
    });
  }
});

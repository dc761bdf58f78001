import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Hints, packHints, unpackHints } from '../../src/cluster/hint-payload.ts';
import { createHintReceiver, type HintHandler } from '../../src/cluster/hint-receiver.ts';
import { HintSender } from '../../src/cluster/hint-sender.ts';

/** The largest payload of NOTIFY that PostgreSQL accepts. */
const NOTIFY_BYTES_MAX = 8_000;

const noHints = (hubId = 'hub_a'): Hints => ({ hubId, workspaces: {}, kinds: [], more: false });

/** The hints that a sender sends for some notifications of one event loop turn. */
async function sendAtOnce(notify: (sender: HintSender) => void): Promise<Hints[]> {
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const sender = new HintSender({
    hubId: 'hub_a',
    hasOthers: () => true,
    send: async (payloads) => resolve(payloads),
  });
  notify(sender);
  return (await promise).map((payload) => {
    const hints = unpackHints(payload);
    assert.ok(hints);
    return hints;
  });
}

test('hints of one event loop turn share a notification, and ids are counted', async () => {
  const [hints, ...rest] = await sendAtOnce((sender) => {
    sender.notify('w1', { kind: 'lane', id: 'l1' });
    sender.notify('w1', { kind: 'lane', id: 'l1' });
    sender.notify('w1', { kind: 'claims', id: null });
    sender.notify('w2', { kind: 'agent', id: 'a1' });
    sender.notify(null, { kind: 'tokens', id: null });
    sender.notify(null, { kind: 'tokens', id: null });
  });
  assert.equal(rest.length, 0);
  assert.deepEqual(hints, {
    hubId: 'hub_a',
    workspaces: {
      w1: { ids: { lane: { l1: 2 } }, kinds: ['claims'], more: false },
      w2: { ids: { agent: { a1: 1 } }, kinds: [], more: false },
    },
    kinds: ['tokens'],
    more: false,
  });
});

test('a workspace with more ids than fit is sent without ids, but with its kinds', async () => {
  const [hints] = await sendAtOnce((sender) => {
    sender.notify('w1', { kind: 'claims', id: null });
    for (let at = 0; at < 300; at++)
      sender.notify('w1', { kind: 'agent', id: `agent_with_a_long_id_${at}` });
  });
  assert.deepEqual(hints?.workspaces.w1, { ids: {}, kinds: ['claims'], more: true });
});

test('every payload fits NOTIFY, and together they name all workspaces', () => {
  const hints = noHints();
  const ids = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`agent_${at}`, 1]));
  for (let at = 0; at < 40; at++) {
    hints.workspaces[`w${at}`] = { ids: { agent: ids }, kinds: [], more: false };
  }
  const payloads = packHints(hints);
  for (const payload of payloads) assert.ok(Buffer.byteLength(payload) < NOTIFY_BYTES_MAX);
  const received = payloads.flatMap((payload) =>
    Object.keys(unpackHints(payload)?.workspaces ?? {}),
  );
  assert.deepEqual(received, Object.keys(hints.workspaces));
});

test('hints for very many workspaces become one payload that asks handlers to look', () => {
  const hints = { ...noHints(), kinds: ['tokens'] };
  const ids = Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`agent_${at}`, 1]));
  for (let at = 0; at < 200; at++) {
    hints.workspaces[`w${at}`] = { ids: { agent: ids }, kinds: [], more: false };
  }
  const [payload = '', ...rest] = packHints(hints);
  assert.equal(rest.length, 0);
  assert.deepEqual(unpackHints(payload), { ...noHints(), kinds: ['tokens'], more: true });
});

test('a payload of another sender or version counts as lost hints', () => {
  assert.equal(unpackHints('anything'), null);
  assert.equal(unpackHints('{"hubId":"hub_a","workspaces":{},"tokens":false}'), null);
});

test('lost hints make every handler look at once and report the loss to it', async () => {
  const looks: boolean[] = [];
  const kinds: (readonly string[] | null)[] = [];
  const handler: HintHandler = {
    onKinds: (of) => kinds.push(of),
    look: async (mayHaveMissed) => {
      looks.push(mayHaveMissed);
      return false;
    },
  };
  const fail = (error: unknown) => assert.fail(String(error));
  const receiver = createHintReceiver([handler], () => true, fail);
  receiver.receive({ ...noHints('hub_b'), kinds: ['tokens'] });
  assert.deepEqual(looks, []);
  receiver.receive(null);
  assert.deepEqual(kinds, [['tokens'], null]);
  assert.deepEqual(looks, [true]);
  await receiver.look();
  assert.deepEqual(looks, [true, false], 'the handler has looked for missed changes');
});

test('a look after lost hints that fails or is incomplete is repeated', async () => {
  const looks: boolean[] = [];
  const ends = [
    () => Promise.reject(new Error('no database')),
    async () => true,
    async () => false,
  ];
  const handler: HintHandler = {
    look(mayHaveMissed) {
      looks.push(mayHaveMissed);
      return ends[looks.length - 1]?.() ?? Promise.resolve(false);
    },
  };
  let isListening = false;
  const receiver = createHintReceiver([handler], () => isListening, assert.ifError);
  await assert.rejects(receiver.look(), /no database/);
  isListening = true;
  await receiver.look();
  await receiver.look();
  await receiver.look();
  assert.deepEqual(looks, [true, true, true, false]);
});

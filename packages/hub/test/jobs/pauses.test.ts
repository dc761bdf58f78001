import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consolePathOf, endpoints, type QueuePause } from '@signalbox/contract';
import { signInFirstOwner } from '../support/console-person.ts';
import { startQueueWorld } from '../support/queue-world.ts';

const { queue, repositories } = endpoints;

test('a pause says since when, by whom and why, and ends with its resume', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, repoId } = h;
  const list = async () => (await h.call(queue.listPauses, { workspaceId })).pauses;
  assert.deepEqual(await list(), []);
  const person = await signInFirstOwner(h);
  const pausedAt = new Date(h.clock.nowMs()).toISOString();
  const paused = await person.send(consolePathOf(queue.pause), {
    workspaceId,
    repoId,
    reason: 'Release freeze.',
  });
  assert.equal(paused.body.paused, true, paused.text);
  const ofRepository = { repoId, pausedAt, pausedBy: 'Ada Lovelace', reason: 'Release freeze.' };
  assert.deepEqual(await list(), [ofRepository]);

  h.clock.advance(60_000);
  await h.call(queue.pause, { workspaceId });
  const later = new Date(h.clock.nowMs()).toISOString();
  const ofWorkspace = { repoId: null, pausedAt: later, pausedBy: 'test', reason: null };
  assert.deepEqual(await list(), [ofWorkspace, ofRepository]);
  const { body } = await person.send(consolePathOf(queue.listPauses), { workspaceId });
  assert.deepEqual(body.pauses, [ofWorkspace, ofRepository], 'the console sees the same');

  await h.call(queue.resume, { workspaceId });
  assert.deepEqual(await list(), [ofRepository]);
  await h.call(queue.resume, { workspaceId, repoId });
  assert.deepEqual(await list(), []);
});

test('a second pause keeps the time of the first, and its words unless it brings a reason', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, repoId } = h;
  const program = await h.mintToken(workspaceId, 'deployer', ['enqueue']);
  const only = async (): Promise<QueuePause | undefined> =>
    (await h.call(queue.listPauses, { workspaceId })).pauses[0];
  for (const extent of [{}, { repoId }]) {
    const request = { workspaceId, ...extent };
    await h.call(queue.pause, { ...request, reason: 'Migration.' });
    const first = await only();
    h.clock.advance(1_000);
    await h.call(queue.pause, request, program);
    assert.deepEqual(await only(), first);
    await h.call(queue.pause, { ...request, reason: 'Rollback.' }, program);
    assert.deepEqual(await only(), { ...first, pausedBy: 'deployer', reason: 'Rollback.' });
    await h.call(queue.resume, request);
  }
});

test('a new label of a paused repository leaves its pause', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, repoId } = h;
  await h.call(queue.pause, { workspaceId, repoId, reason: 'Migration.' });
  const { pauses } = await h.call(queue.listPauses, { workspaceId });
  const { repo } = await h.call(repositories.get, { workspaceId, repoId });
  const { remoteUrlHash } = repo;
  await h.call(repositories.upsert, { workspaceId, remoteUrlHash, label: 'acme/renamed' });
  assert.deepEqual((await h.call(queue.listPauses, { workspaceId })).pauses, pauses);
});

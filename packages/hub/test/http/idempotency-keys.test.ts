import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Endpoint, endpointList, endpoints } from '@signalbox/contract';
import { startApiWorld, type World } from '../support/api-world.ts';
import { fillExample } from '../support/bound-endpoints.ts';
import { exchange } from '../support/http-exchange.ts';
import { startQueueWorld } from '../support/queue-world.ts';

/*
 * The rule of idempotency keys, for every endpoint that takes one. An endpoint without a row here
 * fails.
 */

/** Another value of one field of the request: the call is then a different one. */
const changes: Record<string, Record<string, unknown>> = {
  jobsEnqueue: { prompt: 'Do something else.' },
  jobsContinue: { message: 'Something else.' },
  reviewCommentsSave: { text: 'Something else.' },
  // Landed, a work is not changed by the call of another one.
  worksLand: { jobId: 'job_other' },
  jobsBulk: { reason: 'Something else.' },
  cloudAiJobsEnqueue: { kind: 'something-else' },
  runsUpsertV1: { status: 'something else' },
  uncertaintiesCreateWithAutoPromotion: { prompt: 'Something else?' },
  uncertaintiesAddResolution: { value: 'Something else.' },
  uncertaintiesResolveAlike: { value: 'Something else.' },
  contextItemsUpsert: { text: 'Something else.' },
  contextPacksBuildRunV1: { tokenBudget: 100 },
  uploadsCreate: { fileName: 'something-else.txt' },
};

/** The ingestion of events has a required key and its own answer to a repetition. */
const { ingest } = endpoints.integrations;
const keyed = endpointList.filter(
  (endpoint) => endpoint !== ingest && 'idempotencyKey' in endpoint.request.properties,
);

async function prepare(world: World, endpoint: Endpoint) {
  const change = changes[endpoint.name];
  assert.ok(change, `${endpoint.name} has no row: say which field to change`);
  const { idempotencyKey: _, ...body } = await fillExample(world, endpoint, world.held.jobId);
  const send = (fields: Record<string, unknown>) => {
    const { baseUrl } = world.hub;
    return exchange(baseUrl, {
      path: endpoint.path,
      token: world.home.token,
      body: { ...body, ...fields },
    });
  };
  return { change, send };
}

test('of equal requests with one key, one acts, and the others get its answer', async (t) => {
  const world = await startApiWorld(t);
  for (const endpoint of keyed) {
    await t.test(endpoint.name, async () => {
      const { send } = await prepare(world, endpoint);
      const sent = Array.from({ length: 8 }, () => send({ idempotencyKey: 'once' }));
      const bodies = (await Promise.all(sent)).map(({ body }) => body);
      const fresh = bodies.filter(({ idempotent }) => idempotent !== true);
      assert.equal(fresh.length, 1);
      const { requestId: _, ...first } = fresh[0] as Record<string, unknown>;
      assert.equal(first.ok, true, JSON.stringify(first));
      for (const { idempotent: _again, requestId: _id, ...again } of bodies) {
        assert.deepEqual(again, first);
      }
    });
  }
});

test('a key that was used with another body is refused', async (t) => {
  const world = await startApiWorld(t);
  for (const endpoint of keyed) {
    await t.test(endpoint.name, async () => {
      const { send, change } = await prepare(world, endpoint);
      assert.equal((await send({ idempotencyKey: 'changed' })).status, 200);
      const other = await send({ ...change, idempotencyKey: 'changed' });
      assert.equal(other.body.error, 'IDEMPOTENCY_CONFLICT', other.text);
    });
  }
});

test('each endpoint and each workspace has keys of its own', async (t) => {
  const world = await startApiWorld(t);
  const draft = { kind: 'work' as const, prompt: 'Do it.', idempotencyKey: 'shared' };
  const ids = new Set<string>();
  for (const { workspaceId, repoId, token } of [world.home, world.other]) {
    const body = { ...draft, workspaceId, repoId };
    ids.add((await world.call(endpoints.jobs.enqueue, body, token)).jobId);
  }
  assert.equal(ids.size, 2);
  const { workspaceId } = world.home;
  const note = { workspaceId, kind: 'note' as const, text: 'A note.', idempotencyKey: 'shared' };
  assert.ok((await world.call(endpoints.contextItems.upsert, note)).itemId);
});

test('a key belongs to its caller: a job token that guesses key and body gets no upload of others (L12)', async (t) => {
  const h = await startQueueWorld(t);
  await h.enqueue();
  const { jobToken = '' } = await h.claim();
  const { uploads } = endpoints;
  const body = {
    workspaceId: h.workspaceId,
    fileName: 'report.txt',
    contentType: 'text/plain',
    sizeBytes: 5,
    idempotencyKey: 'guessed',
  };
  // The tool guesses first: the call of the person is not answered with the tool's upload either.
  const ofTool = await h.call(uploads.create, body, jobToken);
  const ofPerson = await h.call(uploads.create, body);
  assert.notEqual(ofPerson.uploadId, ofTool.uploadId);
  assert.notEqual(ofPerson.uploadUrl, ofTool.uploadUrl);
  assert.ok(!('idempotent' in ofPerson));
  for (const [token, first] of [
    [jobToken, ofTool],
    [undefined, ofPerson],
  ] as const) {
    const again = await h.call(uploads.create, body, token);
    assert.equal(again.uploadId, first.uploadId);
    assert.equal(again.idempotent, true);
  }
});

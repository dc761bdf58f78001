import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import pg from 'pg';
import type { Hub } from '../../src/start/app.ts';
import { type ChangeStream, openStream, type StreamedEvent } from '../support/change-stream.ts';
import {
  addWorkspace,
  callHub,
  enqueueJob,
  type HubsWorkspace,
  startSeveralHubs,
  untilAcquainted,
} from '../support/several-hubs.ts';
import { until } from '../support/until.ts';

const options = { timeout: 60_000 };

function follow(hub: Hub, { workspaceId, token }: HubsWorkspace): Promise<ChangeStream> {
  const url = `${hub.baseUrl}${endpoints.changes.stream.path}?workspaceId=${workspaceId}`;
  return openStream(url, { authorization: `Bearer ${token}` });
}

/** A stream on one of two hubs, of a workspace that the other has made. */
async function followFromAfar(t: TestContext) {
  const world = await startSeveralHubs(t);
  const [near, far] = [await world.start(), await world.start()];
  await untilAcquainted(near, far);
  const workspace = await addWorkspace(far);
  return { world, near, far, workspace, stream: await follow(near, workspace) };
}

/** Reads until an event of a kind arrives. */
async function untilEvent(stream: ChangeStream, name: string): Promise<StreamedEvent> {
  for (;;) {
    const event = await stream.next();
    assert.ok(event, `the stream ended before ${name}`);
    if (event.event === name) return event;
  }
}

test('a change on one hub reaches the streams of another', options, async (t) => {
  const { far, workspace, stream } = await followFromAfar(t);
  await stream.next();
  const jobId = await enqueueJob(far, workspace);
  await stream.until('job', jobId);
});

test('more changes than a hint holds reach the other hub as a kind', options, async (t) => {
  const { far, workspace, stream } = await followFromAfar(t);
  await stream.next();
  const { workspaceId } = workspace;
  const ids = Array.from({ length: 500 }, (_, at) => `job_${at}`);
  far.feed.announce(ids.map((id) => ({ workspaceId, kind: 'job' as const, id })));
  await stream.until('job', null);
});

test('a token revoked on one hub ends its streams on another', options, async (t) => {
  const { far, workspace, stream } = await followFromAfar(t);
  await stream.next();
  await callHub(far, endpoints.tokens.revoke, {}, workspace.token);
  while ((await stream.next()) !== null);
});

test('a hub whose connection for hints was cut resets its streams', options, async (t) => {
  const { world, near, far, workspace, stream } = await followFromAfar(t);
  await untilEvent(stream, 'open');
  const operator = new pg.Client({ connectionString: world.databaseUrl });
  await operator.connect();
  await operator.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'signalbox ${near.group.hubId}'`,
  );
  await operator.end();
  await untilEvent(stream, 'reset');
  await until('it listens again', () => near.group.isListening());
  const jobId = await enqueueJob(far, workspace);
  await stream.until('job', jobId);
});

test('a hub that hears no hints tells its streams to read again', options, async (t) => {
  const world = await startSeveralHubs(t);
  const deaf = await world.start({ databasePooled: true });
  const other = await world.start();
  await untilAcquainted(deaf, other);
  const workspace = await addWorkspace(other);
  const stream = await follow(deaf, workspace);
  await untilEvent(stream, 'open');
  await enqueueJob(other, workspace);
  await untilEvent(stream, 'reset');
});

test('a read on one hub has what another hub has committed before it', options, async (t) => {
  const { near, far, workspace, stream } = await followFromAfar(t);
  await stream.next();
  const { workspaceId, token } = workspace;
  for (let round = 1; round <= 10; round += 1) {
    const jobId = await enqueueJob(far, workspace);
    const readAll = async () => {
      const reads = [1, 2, 3].map(() =>
        callHub(near, endpoints.jobs.get, { workspaceId, jobId }, token),
      );
      return (await Promise.all(reads)).map(({ job }) => job.status);
    };
    assert.deepEqual(await readAll(), ['pending', 'pending', 'pending']);
    await callHub(far, endpoints.jobs.cancel, { workspaceId, jobId }, token);
    assert.deepEqual(await readAll(), ['canceled', 'canceled', 'canceled']);
  }
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Change, consoleEndpoints, consolePathOf, endpoints } from '@signalbox/contract';
import { askForStream, openStream } from '../support/change-stream.ts';
import { addPerson, logDeviceIn, makeOwner, signInAs } from '../support/people.ts';
import { startTestHub } from '../support/test-hub.ts';
import { until } from '../support/until.ts';
import type { Visitor } from '../support/visitor.ts';

const { jobs, agents, repositories, queue, tokens, runs, changes, reviewComments } = endpoints;
const { members, invitations, session } = consoleEndpoints;
/** The clock of the test stands still, so what is not sent never comes. */
const options = { timeout: 60_000 };

async function setup(t: TestContext) {
  const hub = await startTestHub(t);
  const { browser, workspaceId } = await makeOwner(hub);
  const token = await logDeviceIn(hub, browser);
  const laptop = hub.visitor().withToken(token);
  const remoteUrlHash = 'a'.repeat(64);
  const { repoId } = await laptop.call(repositories.upsert, { workspaceId, remoteUrlHash });
  const machine = { machineFingerprint: 'laptop', capabilities: { canWrite: true } };
  const { agentId } = await laptop.call(agents.heartbeat, { workspaceId, ...machine });

  const urlOf = (path: string, after?: string) =>
    `${hub.address}${path}?workspaceId=${workspaceId}${after === undefined ? '' : `&after=${after}`}`;
  /** A stream as a program has it. */
  const follow = (after?: string, headers: Record<string, string> = {}) =>
    openStream(urlOf(changes.stream.path, after), { authorization: `Bearer ${token}`, ...headers });
  /** A stream as the console of a signed-in person has it. */
  const watch = (of: Visitor) => openStream(urlOf(consolePathOf(changes.stream)), cookieOf(of));
  const enqueue = async () => {
    const job = { workspaceId, repoId, kind: 'work' as const, prompt: 'Do it.' };
    return (await laptop.call(jobs.enqueue, job)).jobId;
  };
  const records = { token, workspaceId, repoId, agentId, machine };
  return { hub, browser, laptop, ...records, urlOf, follow, watch, enqueue };
}

function cookieOf({ cookies }: Visitor): Record<string, string> {
  return { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
}

const textOf = (all: readonly Change[]) =>
  [...new Set(all.map(({ kind, id }) => `${kind} ${id}`))].sort();

test('a stream says which records each call has changed, and nothing else', options, async (t) => {
  const world = await setup(t);
  const { laptop, workspaceId, repoId, agentId, machine } = world;
  const stream = await world.follow();
  assert.deepEqual((await stream.next())?.event, 'open');

  const jobId = await world.enqueue();
  const enqueued = [`job ${jobId}`, `jobEvents ${jobId}`];
  assert.deepEqual(textOf(await stream.until('job', jobId)), enqueued);

  const claim = await laptop.call(jobs.claimNext, { workspaceId, agentId, leaseMs: 60_000 });
  assert.equal(claim.jobId, jobId);
  assert.deepEqual(textOf(await stream.until('job', jobId)), enqueued);

  const held = { workspaceId, jobId, agentId, claimGeneration: 1 };
  await laptop.call(jobs.heartbeat, held);
  assert.deepEqual(textOf(await stream.until('jobEvents', jobId)), [`jobEvents ${jobId}`]);

  const evidence = { commitSha: 'a'.repeat(40) };
  await laptop.call(jobs.complete, { ...held, outcome: 'done', evidence });
  assert.deepEqual(textOf(await stream.until('job', jobId)), enqueued);

  // On the page of each round of the work, so it has the id of the work.
  await laptop.call(reviewComments.save, {
    workspaceId,
    jobId,
    text: 'No.',
    place: { path: 'a.ts', side: 'result', startLine: 1, endLine: 1, lines: 'a' },
  });
  const commented = [`reviewComment ${jobId}`];
  assert.deepEqual(textOf(await stream.until('reviewComment', jobId)), commented);

  // A heartbeat that tells nothing new is no change.
  await laptop.call(agents.heartbeat, { workspaceId, ...machine });
  await laptop.call(agents.heartbeat, { workspaceId, ...machine, status: 'draining' });
  assert.deepEqual(textOf(await stream.until('agent', agentId)), [`agent ${agentId}`]);

  await laptop.call(queue.pause, { workspaceId });
  assert.deepEqual(textOf(await stream.until('queue', workspaceId)), [`queue ${workspaceId}`]);

  const goal = { workspaceId, repoId, runRef: 'run', status: 'in_progress' };
  const { runId } = await laptop.call(runs.upsertV1, goal);
  assert.deepEqual(textOf(await stream.until('run', runId)), [`run ${runId}`]);
});

test('a client that comes back gets what it missed once, in one event', options, async (t) => {
  const world = await setup(t);
  const first = await world.follow();
  await first.next();
  const before = await world.enqueue();
  const seen = await first.next();
  assert.ok(seen?.changes.some(({ id }) => id === before));
  first.leave();

  const missed = [await world.enqueue(), await world.enqueue()];
  for (const position of ['query', 'header'] as const) {
    const after = seen?.id ?? '';
    const again =
      position === 'query'
        ? await world.follow(after)
        : await world.follow('ignored', { 'last-event-id': after });
    assert.equal((await again.next())?.event, 'open');
    const all = await again.until('job', missed[1] ?? '');
    const jobsSeen = all.filter(({ kind }) => kind === 'job').map(({ id }) => id);
    assert.deepEqual(jobsSeen, missed, position);
    again.leave();
  }
});

test('a position that the hub does not know leads to one reset', options, async (t) => {
  const world = await setup(t);
  for (const after of ['0123456789ab-3', 'nonsense', '0']) {
    const stream = await world.follow(after);
    assert.equal((await stream.next())?.event, 'reset');
    const jobId = await world.enqueue();
    assert.equal((await stream.next())?.event, 'changes', jobId);
    stream.leave();
  }
});

test('a gap that is larger than the log leads to one reset', options, async (t) => {
  const world = await setup(t);
  const { workspaceId } = world;
  const stream = await world.follow();
  const opened = await stream.next();
  const { feed } = world.hub.hub;
  for (let batch = 0; batch < 60; batch += 1) {
    const ids = Array.from({ length: 50 }, (_, at) => `job_${batch}_${at}`);
    feed.announce(ids.map((id) => ({ workspaceId, kind: 'job' as const, id })));
    await stream.until('job', `job_${batch}_49`);
  }
  stream.leave();
  const again = await world.follow(opened?.id);
  assert.equal((await again.next())?.event, 'reset');
  again.leave();
});

test('many changes of a kind are announced without ids', options, async (t) => {
  const world = await setup(t);
  const stream = await world.follow();
  await stream.next();
  const ids = Array.from({ length: 51 }, (_, at) => `job_${at}`);
  const { workspaceId } = world;
  world.hub.hub.feed.announce(ids.map((id) => ({ workspaceId, kind: 'job' as const, id })));
  assert.deepEqual((await stream.next())?.changes, [{ kind: 'job', id: null }]);
});

test(
  'people see the kinds that their role may read, and of their workspace only',
  options,
  async (t) => {
    const world = await setup(t);
    const { hub, workspaceId, browser } = world;
    const viewer = await addPerson(hub, workspaceId, 'victor', 'viewer');
    const streams = {
      owner: await world.watch(browser),
      viewer: await world.watch(await signInAs(hub, viewer.email)),
      token: await world.follow(),
    };
    for (const stream of Object.values(streams)) await stream.next();
    const { feed } = hub.hub;
    feed.announce([{ workspaceId: 'ws_other', kind: 'job', id: 'job_other' }]);
    await browser.call(invitations.create, { workspaceId, email: 'new@acme.dev', role: 'member' });
    const jobId = await world.enqueue();
    const seenBy = async (name: keyof typeof streams) =>
      textOf(await streams[name].until('job', jobId)).map((text) => text.split(' ')[0]);
    assert.deepEqual(await seenBy('owner'), ['auditEntry', 'invitation', 'job', 'jobEvents']);
    assert.deepEqual(await seenBy('viewer'), ['job', 'jobEvents']);
    assert.deepEqual(await seenBy('token'), ['job', 'jobEvents']);
  },
);

test('a stream ends when its token is revoked, and the caller learns why', options, async (t) => {
  const world = await setup(t);
  const stream = await world.follow();
  await stream.next();
  await world.laptop.call(tokens.revoke, {});
  assert.equal(await stream.next(), null);
  const again = await askForStream(world.urlOf(changes.stream.path), {
    authorization: `Bearer ${world.token}`,
  });
  assert.equal(again.status, 401);
  await until('the stream is gone', () => world.hub.hub.feed.count === 0);
});

test(
  'a stream ends with the session, with the membership and with the role',
  options,
  async (t) => {
    const world = await setup(t);
    const { hub, workspaceId, browser: owner } = world;
    const grace = await addPerson(hub, workspaceId, 'grace', 'member');
    const one = await signInAs(hub, grace.email);
    const two = await signInAs(hub, grace.email);
    const first = await world.watch(one);
    const second = await world.watch(two);
    for (const stream of [first, second]) await stream.next();
    await one.call(session.signOut, {});
    assert.equal(await first.next(), null);

    const { personId } = grace;
    await owner.call(members.changeRole, { workspaceId, personId, role: 'viewer' });
    assert.equal((await second.next())?.changes[0]?.kind, 'member');
    assert.equal(await second.next(), null);

    const third = await world.watch(two);
    await third.next();
    await owner.call(members.remove, { workspaceId, personId });
    while ((await third.next()) !== null);
    const url = world.urlOf(consolePathOf(changes.stream));
    const refused = await askForStream(url, cookieOf(two));
    assert.match(await refused.text(), /WORKSPACE_NOT_FOUND/);
  },
);

test('a caller has 16 streams at most, and one that is closed makes room', options, async (t) => {
  const world = await setup(t);
  const streams = await Promise.all(Array.from({ length: 16 }, () => world.follow()));
  const ask = () =>
    askForStream(world.urlOf(changes.stream.path), { authorization: `Bearer ${world.token}` });
  const refused = await ask();
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  streams[0]?.leave();
  await until('one is closed', () => world.hub.hub.feed.count === 15);
  (await world.follow()).leave();
});

test('proxies pass a stream on at once, and the hub stops while it is open', options, async (t) => {
  const world = await setup(t);
  const stream = await world.follow(undefined, { 'accept-encoding': 'gzip, br' });
  assert.equal((await stream.next())?.event, 'open');
  assert.equal(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  assert.equal(stream.headers.get('cache-control'), 'no-store');
  assert.equal(stream.headers.get('x-accel-buffering'), 'no');
  assert.equal(stream.headers.get('content-encoding'), null);
  await world.hub.hub.stop();
  assert.equal(await stream.next(), null);
});

test('another site cannot open a stream with the cookie of a person', options, async (t) => {
  const world = await setup(t);
  const url = world.urlOf(consolePathOf(changes.stream));
  const cookie = cookieOf(world.browser);
  const crossSite = await askForStream(url, { ...cookie, 'sec-fetch-site': 'cross-site' });
  assert.equal(crossSite.status, 400);
  assert.equal((await askForStream(url, {})).status, 401);
});

test('a stream from the position of a session misses nothing after it', options, async (t) => {
  const world = await setup(t);
  await world.enqueue();
  const { workspaces } = await world.browser.call(session.get, {});
  const jobId = await world.enqueue();
  const stream = await world.follow(workspaces[0]?.changesAfter);
  assert.deepEqual((await stream.next())?.event, 'open');
  const enqueued = [`job ${jobId}`, `jobEvents ${jobId}`];
  assert.deepEqual(textOf(await stream.until('job', jobId)), enqueued);
});

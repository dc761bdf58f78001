import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { consoleEndpointList, endpointList, endpoints } from '@signalbox/contract';
import { systemClock } from '../../src/base/clock.ts';
import type { Principal } from '../../src/base/principal.ts';
import { costOf } from '../../src/http/call-cost.ts';
import { Limiter, READS_MAX, READS_WAITING_MAX } from '../../src/http/limiter.ts';
import type { Config } from '../../src/start/config.ts';
import { startHomeWorld } from '../support/home-world.ts';
import { exchange } from '../support/http-exchange.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPrincipal } from '../support/open-gate.ts';

const { tokens, agents, jobs } = endpoints;

/** A workspace on a hub whose clock stands still, so that buckets fill only when a test says so. */
async function startLimited(t: TestContext, config: Partial<Config>) {
  const clock = createManualClock();
  const world = await startHomeWorld(t, { clock, config });
  // Gives back the units that the setup has used.
  clock.advance(10_000);
  return { ...world, clock };
}

test('a token that sends too much gets 429 with Retry-After, and its agents keep their leases', async (t) => {
  const { clock, home, send, call, addWorkspace } = await startLimited(t, { tokenRate: 10 });
  const whoami = () => send(tokens.whoami.path, {});
  for (let count = 0; count < 20; count++) assert.equal((await whoami()).status, 200);
  const refused = await whoami();
  assert.equal(refused.status, 429);
  assert.equal(refused.body.error, 'RATE_LIMITED');
  assert.match(String(refused.body.message), /this token or its workspace.*more slowly\.$/);
  assert.equal(refused.headers.get('retry-after'), '1');
  const { workspaceId } = home;
  const agent = { workspaceId, displayName: 'one', machineFingerprint: 'one', capabilities: {} };
  await call(agents.heartbeat, agent);
  const list = await send(jobs.list.path, { workspaceId });
  assert.equal(list.headers.get('retry-after'), '2', 'a list costs a whole bucket here');
  clock.advance(100);
  assert.equal((await whoami()).status, 200);
  assert.equal((await whoami()).status, 429);
  clock.advance(10_000);
  const other = await addWorkspace('other');
  assert.equal((await send(tokens.whoami.path, {}, other.token)).status, 200);
});

test('heartbeats, renewals and completions are limited by buckets of their own', async (t) => {
  const { home, send } = await startLimited(t, { tokenRate: 10 });
  const { workspaceId } = home;
  const agent = { workspaceId, displayName: 'one', machineFingerprint: 'one', capabilities: {} };
  for (let count = 0; count < 20; count++) {
    assert.equal((await send(agents.heartbeat.path, agent)).status, 200);
  }
  assert.equal((await send(agents.heartbeat.path, agent)).status, 429);
  assert.equal((await send(tokens.whoami.path, {})).status, 200);
});

test('the tokens of a workspace share its limit', async (t) => {
  const { home, send, mintToken, addWorkspace } = await startLimited(t, { workspaceRate: 15 });
  const second = await mintToken(home.workspaceId, 'second');
  const neighbour = await addWorkspace('neighbour');
  for (let count = 0; count < 30; count++) {
    const { status } = await send(tokens.whoami.path, {}, count % 2 === 0 ? home.token : second);
    assert.equal(status, 200);
  }
  assert.equal((await send(tokens.whoami.path, {})).status, 429);
  assert.equal((await send(tokens.whoami.path, {}, second)).status, 429);
  assert.equal((await send(tokens.whoami.path, {}, neighbour.token)).status, 200);
});

test('strangers are limited by address, and take nothing from tokens and health checks', async (t) => {
  const { hub, send, clock } = await startLimited(t, { addressRate: 50 });
  for (let count = 0; count < 10; count++) {
    assert.equal((await send(tokens.whoami.path, {}, 'guess')).status, 401);
  }
  const refused = await send(tokens.whoami.path, {}, 'guess');
  assert.equal(refused.status, 429);
  assert.equal(refused.body.error, 'RATE_LIMITED');
  const page = () => exchange(hub.baseUrl, { method: 'GET', path: '/' });
  assert.equal((await page()).status, 429);
  assert.equal((await send('/control-plane/v1/nowhere', {})).status, 429);
  assert.equal((await send(endpoints.devices.poll.path, {}, null)).status, 429);
  assert.equal((await send(tokens.whoami.path, {})).status, 200);
  const health = { method: 'GET', path: endpoints.health.health.path };
  assert.equal((await exchange(hub.baseUrl, health)).status, 200);
  clock.advance(10_000);
  assert.equal((await page()).status, 200);
});

test('a request over the limit is refused before its body is read', async (t) => {
  const { hub, home, send } = await startLimited(t, { tokenRate: 1 });
  for (const status of [200, 200, 429]) {
    assert.equal((await send(tokens.whoami.path, {})).status, status);
  }
  const { hostname, port } = new URL(hub.baseUrl);
  const socket = connect(Number(port), hostname);
  // The announced body never comes.
  socket.write(
    `POST ${tokens.whoami.path} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-length: 2\r\n` +
      `content-type: application/json\r\nauthorization: Bearer ${home.token}\r\n\r\n`,
  );
  const [answer] = await once(socket, 'data');
  socket.destroy();
  assert.match(String(answer), /^HTTP\/1\.1 429 /);
});

test('long reads over the slots of a caller wait and are answered', async (t) => {
  const { home, send } = await startLimited(t, {});
  const { workspaceId } = home;
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => send(jobs.list.path, { workspaceId })),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  const more = await send(jobs.list.path, { workspaceId });
  assert.equal(more.status, 200, 'answers free their slots');
});

test('a caller has 8 long reads under way and 120 that wait; further ones are refused', () => {
  const limits = { tokenRate: 0, workspaceRate: 0, addressRate: 0 };
  const limiter = new Limiter({ limits, clock: systemClock, hubs: () => 1 });
  const take = (caller: Principal) => {
    const slot = limiter.takeSlot(caller, '192.0.2.7', costOf(jobs.list));
    return { isWaiting: slot.ready !== null, end: slot.leave };
  };
  const caller = createPrincipal({ tokenId: 'one' });
  const taken = Array.from({ length: READS_MAX + READS_WAITING_MAX }, () => take(caller));
  assert.equal(taken.filter(({ isWaiting }) => !isWaiting).length, READS_MAX);
  assert.throws(() => take(caller), { code: 'RATE_LIMITED' });
  assert.equal(take(createPrincipal({ tokenId: 'other' })).isWaiting, false);
  taken[0]?.end();
  assert.equal(take(caller).isWaiting, true, 'the end of an answer makes room for one more');
});

test('a caller has 64 calls under way; its leases and other callers do not wait for them', async (t) => {
  const { hub, home, send, addWorkspace } = await startLimited(t, {});
  const other = await addWorkspace('other');
  const { workspaceId, repoId, token } = home;
  const { hostname, port } = new URL(hub.baseUrl);
  // Each has a slot until its body has arrived. The hub has begun a call when it asks for the body.
  const held = Array.from({ length: 64 }, () => {
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST ${jobs.enqueue.path} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-length: 100\r\n` +
        'content-type: application/json\r\nexpect: 100-continue\r\n' +
        `authorization: Bearer ${token}\r\n\r\n{`,
    );
    return socket;
  });
  const ofOther = () => send(tokens.whoami.path, {}, other.token);
  await Promise.all(held.map((socket) => once(socket, 'data')));
  await ofOther();
  let isAnswered = false;
  const draft = { workspaceId, repoId, kind: 'work', prompt: 'Do it.' };
  const next = send(jobs.enqueue.path, draft).finally(() => {
    isAnswered = true;
  });
  const agent = { workspaceId, displayName: 'one', machineFingerprint: 'one', capabilities: {} };
  for (let count = 0; count < 20; count++) {
    assert.equal((await ofOther()).status, 200);
    assert.equal((await send(agents.heartbeat.path, agent)).status, 200);
  }
  const hasWaited = !isAnswered;
  for (const socket of held) socket.destroy();
  assert.equal((await next).status, 200);
  assert.ok(hasWaited);
});

test('requests that wait for a job leave the slots of their caller to others', async (t) => {
  const { home, send, call } = await startLimited(t, {});
  const { workspaceId, repoId } = home;
  const claims = await Promise.all(
    Array.from({ length: 80 }, async (_, number) => {
      const { agentId } = await call(agents.heartbeat, {
        workspaceId,
        displayName: 'one',
        machineFingerprint: `machine ${number}`,
        capabilities: { canWrite: true, reposAllowed: [repoId] },
      });
      return { answer: send(jobs.claimNext.path, { workspaceId, agentId, waitMs: 20_000 }) };
    }),
  );
  assert.equal((await send(tokens.whoami.path, {})).status, 200);
  for (const _claim of claims) {
    await call(jobs.enqueue, { workspaceId, repoId, kind: 'work', prompt: 'Do it.' });
  }
  const jobIds = await Promise.all(claims.map(async ({ answer }) => (await answer).body.jobId));
  assert.equal(new Set(jobIds).size, claims.length, 'each claim gets a job');
});

test('every list is a long read, long polls are not, and lease calls cost one unit', () => {
  for (const row of [...endpointList, ...consoleEndpointList]) {
    const cost = costOf(row);
    const isList = 'nextCursor' in row.response.properties;
    if (isList) assert.ok(cost.isLongRead && cost.units > 1, row.name);
    // A slot that is held while a claim waits would stop the caller's other reads.
    if ('waitMs' in row.request.properties) assert.equal(cost.isLongRead, false, row.name);
    if (cost.isLease) assert.equal(cost.units, 1, row.name);
  }
  const leaseCalls = endpointList.filter((row) => costOf(row).isLease).map(({ name }) => name);
  assert.deepEqual(leaseCalls, [
    'agentsHeartbeat',
    'agentsReport',
    'jobsHeartbeat',
    'jobsComplete',
    'cloudAiJobsHeartbeat',
    'cloudAiJobsComplete',
  ]);
});

test('hubs of one database share a limit', () => {
  const limits = { tokenRate: 0, workspaceRate: 0, addressRate: 100 };
  const countOf = (hubs: number) => {
    const limiter = new Limiter({ limits, clock: { nowMs: () => 0 }, hubs: () => hubs });
    for (let count = 0; ; count++) {
      try {
        limiter.admitStranger('192.0.2.7', 1);
      } catch {
        return count;
      }
    }
  };
  assert.equal(countOf(1), 200);
  assert.equal(countOf(4), 50);
});

test('addresses of one IPv6 network share a limit', () => {
  const limits = { tokenRate: 0, workspaceRate: 0, addressRate: 10 };
  const limiter = new Limiter({ limits, clock: systemClock, hubs: () => 1 });
  limiter.admitStranger('2001:db8:1:2::1', 1_000);
  assert.throws(() => limiter.admitStranger('2001:db8:1:2:ffff::9', 1), /this address/);
  limiter.admitStranger('2001:db8:1:3::1', 1);
});

import assert from 'node:assert/strict';
import { endpoints } from '@signalbox/contract';
import { runScenarios } from '../support/api-scenario.ts';
import { CANARY, type World } from '../support/api-world.ts';

const { devices } = endpoints;

const startIn = (workspaceSlug: string) => async (world: World) => {
  const { deviceId, deviceSecret } = await world.call(devices.start, { workspaceSlug });
  return { deviceId, deviceSecret };
};

runScenarios('auth/device', [
  {
    name: 'start opens a session without a token',
    endpoint: devices.start,
    credential: 'none',
    body: { workspaceSlug: 'home', machineName: 'build-7' },
    expect: {
      body: { intervalMs: 5_000 },
      check(body, { hub, clock }) {
        assert.match(String(body.deviceId), /^dev_/);
        assert.match(String(body.userCode), /^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/);
        assert.ok(String(body.approvalUrl).startsWith(`${hub.baseUrl}/`));
        assert.equal(Date.parse(String(body.expiresAt)), clock.nowMs() + 600_000);
      },
    },
  },
  {
    name: 'start does not reveal that a workspace is unknown',
    endpoint: devices.start,
    credential: 'none',
    body: { workspaceSlug: 'nowhere' },
    expect: { body: { intervalMs: 5_000 } },
  },
  {
    name: 'start refuses a request without a slug',
    endpoint: devices.start,
    credential: 'none',
    body: {},
    expect: { error: 'INVALID_REQUEST', contains: ['/workspaceSlug'] },
  },
  {
    name: 'poll says only that the session is pending',
    endpoint: devices.poll,
    credential: 'none',
    body: startIn('home'),
    expect: {
      check: (body) => assert.deepEqual(body, { ok: true, status: 'pending', intervalMs: 5_000 }),
    },
  },
  {
    name: 'poll of a session for another workspace reveals nothing about it',
    endpoint: devices.poll,
    credential: 'none',
    body: startIn(CANARY),
    expect: { body: { status: 'pending' }, absent: ['workspaceId'] },
  },
  {
    name: 'poll refuses a wrong secret',
    endpoint: devices.poll,
    credential: 'none',
    body: async (world) => ({ ...(await startIn('home')(world)), deviceSecret: 'wrong' }),
    expect: { error: 'DEVICE_SESSION_NOT_FOUND' },
  },
  {
    name: 'poll refuses an unknown session in the same words',
    endpoint: devices.poll,
    credential: 'none',
    body: { deviceId: 'dev_none', deviceSecret: 'wrong' },
    expect: {
      error: 'DEVICE_SESSION_NOT_FOUND',
      body: { message: 'No such device session, or its secret is wrong.' },
    },
  },
  {
    name: 'poll says when the session has expired',
    endpoint: devices.poll,
    credential: 'none',
    async body(world) {
      const session = await startIn('home')(world);
      world.clock.advance(600_000);
      return session;
    },
    expect: { check: (body) => assert.deepEqual(body, { ok: true, status: 'expired' }) },
  },
]);

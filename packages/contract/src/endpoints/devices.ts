import Type from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Id, Integer, Ok, OneOf, Text, Timestamp } from '../schema.ts';
import { exampleIds } from './example-ids.ts';

/** The lifetime of a device session. */
export const DEVICE_SESSION_MS = 10 * 60 * 1000;
/** The minimum time between two polls of a device session. Polling early adds it once more. */
export const DEVICE_POLL_INTERVAL_MS = 5_000;

export const devices = {
  start: defineEndpoint({
    name: 'authDeviceStart',
    path: '/control-plane/v1/auth/device/start',
    tag: 'Device login',
    auth: 'none',
    scopes: [],
    origin: 'specification',
    console: false,
    repeat: 'safe',
    summary: 'Start a device login',
    description:
      'Opens a device session of 10 minutes. A person opens approvalUrl in a browser, signs in, ' +
      'types the userCode that the terminal shows, and approves. The answer is the same whether ' +
      'or not the workspace exists.',
    request: Type.Object({
      workspaceSlug: Text(255, { minLength: 1 }),
      machineName: Type.Optional(Text(200)),
    }),
    response: Ok({
      deviceId: Id('device'),
      deviceSecret: Text(200, { description: 'Shown once; sent with every poll.' }),
      approvalUrl: Text(2_000, { description: 'The person opens it in a browser.' }),
      userCode: Text(9, {
        description: 'XXXX-XXXX. The terminal shows it, and the person types it in the browser.',
      }),
      expiresAt: Timestamp(),
      intervalMs: Integer(0, 3_600_000, 'Wait at least this long between polls.'),
    }),
    example: {
      request: { workspaceSlug: 'acme', machineName: 'build-7' },
      response: {
        ok: true,
        deviceId: exampleIds.device,
        deviceSecret: 'kq0Vv9mYc4Yt3o1mJm0o9bXQe7r2nZ5uTq8hWd1sLxA',
        approvalUrl: `https://signalbox.acme.dev/device?id=${exampleIds.device}`,
        userCode: 'WDJB-MJHT',
        expiresAt: '2026-11-02T09:10:00.000Z',
        intervalMs: DEVICE_POLL_INTERVAL_MS,
      },
    },
  }),
  poll: defineEndpoint({
    name: 'authDevicePoll',
    path: '/control-plane/v1/auth/device/poll',
    tag: 'Device login',
    auth: 'none',
    scopes: [],
    origin: 'specification',
    console: false,
    repeat: 'safe',
    summary: 'Ask whether a device login was approved',
    description:
      'With status pending, wait intervalMs before the next poll; polling earlier adds 5 s to ' +
      'it. With status approved, the answer has the bearer token. A poll whose answer was lost ' +
      'may be repeated until the session expires, and returns the same token.',
    request: Type.Object({
      deviceId: Id('device'),
      deviceSecret: Text(200, { minLength: 1 }),
    }),
    response: Ok({
      status: OneOf(['pending', 'approved', 'denied', 'expired']),
      intervalMs: Type.Optional(Integer(0, 3_600_000, 'With status pending.')),
      token: Type.Optional(Text(200, { description: 'With status approved: the device token.' })),
      workspaceId: Type.Optional(Id('workspace', 'With status approved.')),
      workspaceSlug: Type.Optional(Text(63, { description: 'With status approved.' })),
    }),
    errors: ['DEVICE_SESSION_NOT_FOUND'],
    example: {
      request: {
        deviceId: exampleIds.device,
        deviceSecret: 'kq0Vv9mYc4Yt3o1mJm0o9bXQe7r2nZ5uTq8hWd1sLxA',
      },
      response: { ok: true, status: 'pending', intervalMs: DEVICE_POLL_INTERVAL_MS },
    },
  }),
} as const;

import Type from 'typebox';
import { defineEndpoint } from '../../endpoint.ts';
import { Id, Nullable, Ok, OneOf, Text, Timestamp } from '../../schema.ts';
import { exampleIds } from '../example-ids.ts';
import { consoleRow, PASSWORD_CHARS_MAX } from './fields.ts';

/** Older sign-ins have to send the password again before they approve a device. */
export const CONFIRMATION_AGE_MS = 10 * 60 * 1000;
/** After so many wrong codes the device session counts as denied. */
export const DEVICE_CODE_ATTEMPTS_MAX = 5;

export const deviceApprovalStatuses = ['pending', 'approved', 'denied', 'expired'] as const;
export type DeviceApprovalStatus = (typeof deviceApprovalStatuses)[number];

export const deviceApprovals = {
  open: defineEndpoint({
    ...consoleRow,
    name: 'consoleDeviceApprovalOpen',
    path: '/console-api/v1/device-approvals/open',
    auth: 'session',
    repeat: 'once',
    summary: 'Open a device session to answer it',
    description:
      'Binds a pending device session to this console session, if its person may approve it: no ' +
      'other can answer it then (DEVICE_OPENED_ELSEWHERE). May be repeated. The code itself is ' +
      'never sent: the person types the one in the terminal.',
    request: Type.Object({ deviceId: Id('device') }),
    response: Ok({
      deviceId: Id('device'),
      workspaceSlug: Text(255, { description: 'As the requester sent it.' }),
      workspaceName: Nullable(
        Text(200, { description: 'Null: no such workspace, or no access to it.' }),
      ),
      machineName: Nullable(Text(200)),
      requesterIp: Text(64),
      requestedAt: Timestamp(),
      expiresAt: Timestamp(),
      status: OneOf(deviceApprovalStatuses),
      needsPassword: Type.Boolean({
        description: 'The sign-in is older than 10 minutes: answering asks for the password.',
      }),
    }),
    errors: ['DEVICE_SESSION_NOT_FOUND', 'DEVICE_OPENED_ELSEWHERE'],
    example: {
      request: { deviceId: exampleIds.device },
      response: {
        ok: true,
        deviceId: exampleIds.device,
        workspaceSlug: 'acme',
        workspaceName: 'Acme',
        machineName: 'build-7',
        requesterIp: '203.0.113.7',
        requestedAt: '2026-11-02T09:00:00.000Z',
        expiresAt: '2026-11-02T09:10:00.000Z',
        status: 'pending',
        needsPassword: false,
      },
    },
  }),
  answer: defineEndpoint({
    ...consoleRow,
    name: 'consoleDeviceApprovalAnswer',
    path: '/console-api/v1/device-approvals/answer',
    auth: 'session',
    repeat: 'once',
    summary: 'Approve or deny a device session',
    description:
      'Only by the console session that opened it. Approving needs the code of the terminal ' +
      '(case, dash and spaces do not matter; without it, or wrong: DEVICE_CODE_MISMATCH, and the ' +
      'fifth wrong one denies the session) and, ten minutes after the sign-in, the password ' +
      '(absent: CONFIRMATION_REQUIRED; wrong: SIGN_IN_FAILED, and the console session goes on). ' +
      'Denying needs neither. Repeating the answer that was given returns it again.',
    request: Type.Object({
      deviceId: Id('device'),
      decision: OneOf(['approve', 'deny']),
      userCode: Type.Optional(Text(40)),
      password: Type.Optional(Text(PASSWORD_CHARS_MAX)),
    }),
    response: Ok({ status: OneOf(deviceApprovalStatuses) }),
    errors: [
      'DEVICE_SESSION_NOT_FOUND',
      'DEVICE_OPENED_ELSEWHERE',
      'DEVICE_CODE_MISMATCH',
      'DEVICE_SESSION_CLOSED',
      'CONFIRMATION_REQUIRED',
      'SIGN_IN_FAILED',
      'NOT_ALLOWED',
    ],
    example: {
      request: { deviceId: exampleIds.device, decision: 'approve', userCode: 'WDJB-MJHT' },
      response: { ok: true, status: 'approved' },
    },
  }),
} as const;

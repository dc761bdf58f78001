import Type from 'typebox';
import { Id, Nullable, Ok, OneOf, Text, Timestamp } from '../../schema.ts';
import { exampleIds } from '../example-ids.ts';
import { defineConsoleEndpoint, PASSWORD_CHARS_MAX } from './fields.ts';

/** After this time, a person must send the password again to approve a device. */
export const CONFIRMATION_AGE_MS = 10 * 60 * 1000;
/** After this many wrong codes the device session is denied. */
export const DEVICE_CODE_ATTEMPTS_MAX = 5;

export const deviceApprovalStatuses = ['pending', 'approved', 'denied', 'expired'] as const;
export type DeviceApprovalStatus = (typeof deviceApprovalStatuses)[number];

export const deviceApprovals = {
  open: defineConsoleEndpoint({
    name: 'consoleDeviceApprovalOpen',
    path: '/console-api/v1/device-approvals/open',
    repeat: 'once',
    summary: 'Open a device session to answer it',
    description:
      'Binds a pending device session to this console session, if its person may approve it. ' +
      'Other console sessions then get DEVICE_OPENED_ELSEWHERE. It may be repeated. The hub ' +
      'never sends the code; the person types the one that the terminal shows.',
    request: Type.Object({ deviceId: Id('device') }),
    response: Ok({
      deviceId: Id('device'),
      workspaceSlug: Text(255, { description: 'The slug that the machine sent.' }),
      workspaceName: Nullable(
        Text(200, { description: 'Null if there is no such workspace, or no access to it.' }),
      ),
      machineName: Nullable(Text(200)),
      requesterIp: Text(64),
      requestedAt: Timestamp(),
      expiresAt: Timestamp(),
      status: OneOf(deviceApprovalStatuses),
      needsPassword: Type.Boolean({
        description:
          'Whether the sign-in is older than 10 minutes, so that approving needs the password.',
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
  answer: defineConsoleEndpoint({
    name: 'consoleDeviceApprovalAnswer',
    path: '/console-api/v1/device-approvals/answer',
    repeat: 'once',
    summary: 'Approve or deny a device session',
    description:
      'Only the console session that opened it may answer. Approving needs the code that the ' +
      'terminal shows, in any case, with or without dash and spaces. A missing or wrong code is ' +
      'DEVICE_CODE_MISMATCH, and the fifth wrong one denies the session. Ten minutes after the ' +
      'sign-in, approving also needs the password: without it, CONFIRMATION_REQUIRED; with a ' +
      'wrong one, SIGN_IN_FAILED, and the console session stays. Denying needs neither. ' +
      'Repeating the same answer returns it again.',
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
    ],
    example: {
      request: { deviceId: exampleIds.device, decision: 'approve', userCode: 'WDJB-MJHT' },
      response: { ok: true, status: 'approved' },
    },
  }),
} as const;

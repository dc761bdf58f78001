import Type, { type Static } from 'typebox';
import { defineEndpoint, type Endpoint } from './endpoint.ts';
import { agents } from './endpoints/agents.ts';
import { jobs } from './endpoints/job-endpoints.ts';
import { jobEvents } from './endpoints/job-events.ts';
import { queue } from './endpoints/queue.ts';
import { repositories } from './endpoints/repositories.ts';
import { exampleIds, WorkspaceSlug } from './endpoints/workspaces.ts';
import { Id, List, Nullable, Ok, OneOf, Text, Timestamp } from './schema.ts';

/**
 * What the hub offers its own console, and nobody else. A person proves herself by the session
 * cookie (HttpOnly, set and ended by the hub alone); requests are same-origin JSON, and the hub
 * refuses them with NOT_ALLOWED unless Sec-Fetch-Site or Origin says so. The control plane never
 * accepts the cookie, and these paths never accept a bearer token.
 */
const CONSOLE_PREFIX = '/console-api/';
const CONTROL_PLANE_PREFIX = '/control-plane/';

/** Older sign-ins have to send the password again before they approve a device. */
export const CONFIRMATION_AGE_MS = 10 * 60 * 1000;
export const PASSWORD_CHARS_MIN = 8;
export const PASSWORD_CHARS_MAX = 128;
/** After so many wrong codes the device session counts as denied. */
export const DEVICE_CODE_ATTEMPTS_MAX = 5;

export const workspaceRoles = ['owner', 'admin', 'member', 'viewer'] as const;
export type WorkspaceRole = (typeof workspaceRoles)[number];

export const Person = Type.Object({
  personId: Id('person'),
  email: Text(320),
  name: Text(200),
});
export type Person = Static<typeof Person>;

/** A workspace as its member sees it. */
export const Membership = Type.Object({
  workspaceId: Id('workspace'),
  slug: Text(63),
  name: Text(200),
  role: OneOf(workspaceRoles),
});
export type Membership = Static<typeof Membership>;

const sessionStateFields = {
  person: Nullable(Person),
  workspaces: List(Membership, 1_000, 'Those the person belongs to, by name.'),
  firstOwnerPending: Type.Boolean({
    description: 'Nobody owns this hub yet: its start-up log holds the link for the first owner.',
  }),
};

/** Who is signed in, and where that person belongs; `person` is null without a live session. */
export const SessionState = Ok(sessionStateFields);
export type SessionState = Static<typeof SessionState>;

/** A console session in the list of a person's own. */
export const ConsoleSession = Type.Object({
  sessionId: Id('session'),
  current: Type.Boolean({ description: 'The one that asks.' }),
  createdAt: Timestamp(),
  lastSeenAt: Timestamp(),
  expiresAt: Timestamp(),
  ip: Text(64),
  userAgent: Text(500),
});
export type ConsoleSession = Static<typeof ConsoleSession>;

export const deviceApprovalStatuses = ['pending', 'approved', 'denied', 'expired'] as const;
export type DeviceApprovalStatus = (typeof deviceApprovalStatuses)[number];

const Email = Text(320, { minLength: 3, pattern: '^[^\\s@]+@[^\\s@]+$' });
const NewPassword = Text(PASSWORD_CHARS_MAX, { minLength: PASSWORD_CHARS_MIN });
const LinkToken = Text(200, {
  minLength: 1,
  description: 'From the fragment of the one-time link; only the latest link is valid.',
});

const examplePerson: Person = {
  personId: 'usr_0199d1c0b7007000a1b2c3d4e5f6071f',
  email: 'ada@acme.dev',
  name: 'Ada Lovelace',
};
const exampleState: SessionState = {
  ok: true,
  person: examplePerson,
  workspaces: [{ workspaceId: exampleIds.workspace, slug: 'acme', name: 'Acme', role: 'owner' }],
  firstOwnerPending: false,
};
const exampleSession: ConsoleSession = {
  sessionId: 'ses_0199d1c0b8007000a1b2c3d4e5f60720',
  current: true,
  createdAt: '2026-11-02T09:00:00.000Z',
  lastSeenAt: '2026-11-02T09:05:00.000Z',
  expiresAt: '2026-11-02T17:05:00.000Z',
  ip: '203.0.113.7',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/149.0',
};

/** What every console row has in common. */
const consoleRow = {
  method: 'POST',
  tag: 'Console',
  scopes: [],
  origin: 'extension',
} as const;

const session = {
  get: defineEndpoint({
    ...consoleRow,
    name: 'consoleSessionGet',
    path: '/console-api/v1/session/get',
    auth: 'none',
    summary: 'Say who is signed in',
    description: 'Never an error: without a live session person is null and workspaces is empty.',
    request: Type.Object({}),
    response: SessionState,
    errors: [],
    example: { request: {}, response: exampleState },
  }),
  signIn: defineEndpoint({
    ...consoleRow,
    name: 'consoleSessionSignIn',
    path: '/console-api/v1/session/sign-in',
    auth: 'none',
    summary: 'Sign in',
    description:
      'Sets a new session cookie; a session sent along ends. Unknown address and wrong password ' +
      'are answered alike and take equally long; repeated failures are delayed (RATE_LIMITED).',
    request: Type.Object({
      email: Text(320, { minLength: 1 }),
      password: Text(PASSWORD_CHARS_MAX, { minLength: 1 }),
    }),
    response: SessionState,
    errors: ['SIGN_IN_FAILED'],
    example: {
      request: { email: examplePerson.email, password: 'correct horse battery staple' },
      response: exampleState,
    },
  }),
  signOut: defineEndpoint({
    ...consoleRow,
    name: 'consoleSessionSignOut',
    path: '/console-api/v1/session/sign-out',
    auth: 'none',
    summary: 'Sign out',
    description: 'Ends the session of this request and its cookie; harmless without one.',
    request: Type.Object({}),
    response: Ok({}),
    errors: [],
    example: { request: {}, response: { ok: true } },
  }),
  list: defineEndpoint({
    ...consoleRow,
    name: 'consoleSessionList',
    path: '/console-api/v1/session/list',
    auth: 'session',
    summary: "List a person's own console sessions",
    description: 'The live ones, the latest used first.',
    request: Type.Object({}),
    response: Ok({ sessions: List(ConsoleSession, 200) }),
    errors: [],
    example: { request: {}, response: { ok: true, sessions: [exampleSession] } },
  }),
  revoke: defineEndpoint({
    ...consoleRow,
    name: 'consoleSessionRevoke',
    path: '/console-api/v1/session/revoke',
    auth: 'session',
    summary: "End one of a person's own console sessions",
    description:
      'At once, on every hub. revoked is false when no live session of this person has the id.',
    request: Type.Object({ sessionId: Id('session') }),
    response: Ok({ revoked: Type.Boolean() }),
    errors: [],
    example: {
      request: { sessionId: exampleSession.sessionId },
      response: { ok: true, revoked: true },
    },
  }),
} as const;

const firstOwner = {
  check: defineEndpoint({
    ...consoleRow,
    name: 'consoleFirstOwnerCheck',
    path: '/console-api/v1/first-owner/check',
    auth: 'none',
    summary: 'Say whether a first-owner link can still be used',
    description: 'Uses nothing up. The token travels in the body, so that no log holds it.',
    request: Type.Object({ linkToken: LinkToken }),
    response: Ok({ valid: Type.Boolean() }),
    errors: [],
    example: {
      request: { linkToken: 'kq0Vv9mYc4Yt3o1mJm0o9bXQe7r2nZ5uTq8hWd1sLxA' },
      response: { ok: true, valid: true },
    },
  }),
  create: defineEndpoint({
    ...consoleRow,
    name: 'consoleFirstOwnerCreate',
    path: '/console-api/v1/first-owner/create',
    auth: 'none',
    summary: 'Make the first owner and the first workspace',
    description:
      'Person, workspace, ownership and the end of the link in one transaction; then signs in ' +
      '(sets the session cookie). A common password is INVALID_REQUEST with path /password.',
    request: Type.Object({
      linkToken: LinkToken,
      email: Email,
      name: Text(200, { minLength: 1 }),
      password: NewPassword,
      workspaceSlug: WorkspaceSlug,
      workspaceName: Text(200, { minLength: 1 }),
    }),
    response: SessionState,
    errors: ['FIRST_OWNER_LINK_INVALID', 'SLUG_TAKEN', 'EMAIL_TAKEN'],
    example: {
      request: {
        linkToken: 'kq0Vv9mYc4Yt3o1mJm0o9bXQe7r2nZ5uTq8hWd1sLxA',
        email: examplePerson.email,
        name: examplePerson.name,
        password: 'correct horse battery staple',
        workspaceSlug: 'acme',
        workspaceName: 'Acme',
      },
      response: exampleState,
    },
  }),
} as const;

const deviceApprovals = {
  open: defineEndpoint({
    ...consoleRow,
    name: 'consoleDeviceApprovalOpen',
    path: '/console-api/v1/device-approvals/open',
    auth: 'session',
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

/** The console's own endpoints. They are not part of `openapi.json`. */
export const consoleEndpoints = { session, firstOwner, deviceApprovals } as const;

/** The same rows in one list. */
export const consoleEndpointList: readonly Endpoint[] = Object.values(consoleEndpoints).flatMap(
  (noun) => Object.values(noun),
);

/**
 * The control plane's rows that the hub answers to the console as well, with the session in place
 * of the token: same schemas, same policy by role, at `consolePathOf(row)`.
 */
export const mirroredEndpoints = {
  jobs: {
    list: jobs.list,
    get: jobs.get,
    enqueue: jobs.enqueue,
    cancel: jobs.cancel,
    retry: jobs.retry,
    release: jobs.release,
  },
  jobEvents: { listForJob: jobEvents.listForJob },
  repositories: { list: repositories.list },
  agents: { list: agents.list },
  queue: { pause: queue.pause, resume: queue.resume },
} as const;

/** The mirrored rows in one list. */
export const mirroredEndpointList: readonly Endpoint[] = Object.values(mirroredEndpoints).flatMap(
  (noun) => Object.values(noun),
);

/**
 * Where the console finds an endpoint: `/control-plane/v1/jobs/list` is mirrored at
 * `/console-api/v1/jobs/list`; the console's own rows are where their path says.
 */
export function consolePathOf(endpoint: Pick<Endpoint, 'path'>): string {
  return endpoint.path.startsWith(CONTROL_PLANE_PREFIX)
    ? CONSOLE_PREFIX + endpoint.path.slice(CONTROL_PLANE_PREFIX.length)
    : endpoint.path;
}

import Type, { type Static } from 'typebox';
import { Id, List, Nullable, Ok, OneOf, Text, Timestamp } from '../../schema.ts';
import { CHANGE_POSITION_CHARS_MAX } from '../changes.ts';
import { exampleIds } from '../example-ids.ts';
import { defineConsoleEndpoint, PASSWORD_CHARS_MAX } from './fields.ts';

/** How long a link that signs a person in can be used, in milliseconds. */
export const SIGN_IN_LINK_MS = 60 * 60 * 1000;

export const workspaceRoles = ['owner', 'admin', 'member', 'viewer'] as const;
export type WorkspaceRole = (typeof workspaceRoles)[number];

export const Person = Type.Object({
  personId: Id('person'),
  email: Text(320),
  name: Text(200),
});
export type Person = Static<typeof Person>;

/** A workspace with the role of the person in it. */
export const Membership = Type.Object({
  workspaceId: Id('workspace'),
  slug: Text(63),
  name: Text(200),
  role: OneOf(workspaceRoles),
  changesAfter: Text(CHANGE_POSITION_CHARS_MAX, {
    description: 'The `after` of changes/stream for what is read after this answer.',
  }),
});
export type Membership = Static<typeof Membership>;

const sessionStateFields = {
  person: Nullable(Person),
  workspaces: List(Membership, 1_000, 'The workspaces of the person, ordered by name.'),
  workspaceRefusal: Nullable(
    Text(300, {
      description: 'Why the person may not create a workspace, in a sentence. Null: they may.',
    }),
  ),
  firstOwnerPending: Type.Boolean({
    description:
      'This hub has no owner yet. Its log at start contains the link for the first owner.',
  }),
};

/** The signed-in person and their workspaces. `person` is null without an active session. */
export const SessionState = Ok(sessionStateFields);
export type SessionState = Static<typeof SessionState>;

/** A console session of the person who lists them. */
export const ConsoleSession = Type.Object({
  sessionId: Id('session'),
  current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
  createdAt: Timestamp(),
  lastSeenAt: Timestamp(),
  expiresAt: Timestamp(),
  ip: Text(64),
  userAgent: Text(500),
});
export type ConsoleSession = Static<typeof ConsoleSession>;

export const examplePerson: Person = {
  personId: 'usr_1j78s1do0003qjivc1ov',
  email: 'ada@acme.dev',
  name: 'Ada Lovelace',
};
export const exampleSessionState: SessionState = {
  ok: true,
  person: examplePerson,
  workspaces: [
    {
      workspaceId: exampleIds.workspace,
      slug: 'acme',
      name: 'Acme',
      role: 'owner',
      changesAfter: '8c1fe2a94b07-1812',
    },
  ],
  workspaceRefusal: null,
  firstOwnerPending: false,
};
const exampleSession: ConsoleSession = {
  sessionId: 'ses_1j78s1e00003qjivc1p0',
  current: true,
  createdAt: '2026-11-02T09:00:00.000Z',
  lastSeenAt: '2026-11-02T09:05:00.000Z',
  expiresAt: '2026-11-02T17:05:00.000Z',
  ip: '203.0.113.7',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/149.0',
};

export const consoleSession = {
  get: defineConsoleEndpoint({
    name: 'consoleSessionGet',
    path: '/console-api/v1/session/get',
    auth: 'none',
    repeat: 'safe',
    summary: 'Read who is signed in',
    description: 'Never fails. Without an active session, person is null and workspaces is empty.',
    request: Type.Object({}),
    response: SessionState,
    example: { request: {}, response: exampleSessionState },
  }),
  signIn: defineConsoleEndpoint({
    name: 'consoleSessionSignIn',
    path: '/console-api/v1/session/sign-in',
    auth: 'none',
    repeat: 'once',
    summary: 'Sign in',
    description:
      'Sets a new session cookie and ends the session of the request. An unknown address and a ' +
      'wrong password get the same answer after the same time. Repeated failures are delayed ' +
      '(RATE_LIMITED).',
    request: Type.Object({
      email: Text(320, { minLength: 1 }),
      password: Text(PASSWORD_CHARS_MAX, { minLength: 1 }),
    }),
    response: SessionState,
    errors: ['SIGN_IN_FAILED'],
    example: {
      request: { email: examplePerson.email, password: 'correct horse battery staple' },
      response: exampleSessionState,
    },
  }),
  signInByLink: defineConsoleEndpoint({
    name: 'consoleSessionSignInByLink',
    path: '/console-api/v1/session/sign-in-by-link',
    auth: 'none',
    repeat: 'once',
    summary: 'Sign in by a one-time link',
    description:
      'Uses up a link that `signalbox up` printed on the machine of the hub, at most an hour ago. ' +
      'Sets a new session cookie and ends the session of the request.',
    request: Type.Object({
      linkToken: Text(200, {
        minLength: 1,
        description: 'The token in the fragment of the one-time link.',
      }),
    }),
    response: SessionState,
    errors: ['SIGN_IN_LINK_INVALID'],
    example: {
      request: { linkToken: 'kq0Vv9mYc4Yt3o1mJm0o9bXQe7r2nZ5uTq8hWd1sLxA' },
      response: exampleSessionState,
    },
  }),
  signOut: defineConsoleEndpoint({
    name: 'consoleSessionSignOut',
    path: '/console-api/v1/session/sign-out',
    auth: 'none',
    repeat: 'once',
    summary: 'Sign out',
    description:
      'Ends the session of this request and its cookie. Without a session it does nothing.',
    request: Type.Object({}),
    response: Ok({}),
    example: { request: {}, response: { ok: true } },
  }),
  list: defineConsoleEndpoint({
    name: 'consoleSessionList',
    path: '/console-api/v1/session/list',
    repeat: 'safe',
    summary: "List a person's own console sessions",
    description: 'The active ones, latest used first.',
    request: Type.Object({}),
    response: Ok({ sessions: List(ConsoleSession, 200) }),
    example: { request: {}, response: { ok: true, sessions: [exampleSession] } },
  }),
  revoke: defineConsoleEndpoint({
    name: 'consoleSessionRevoke',
    path: '/console-api/v1/session/revoke',
    repeat: 'safe',
    summary: "End one of a person's own console sessions",
    description:
      'Takes effect at once on every hub. revoked is false if the person has no active session ' +
      'with this id.',
    request: Type.Object({ sessionId: Id('session') }),
    response: Ok({ revoked: Type.Boolean() }),
    example: {
      request: { sessionId: exampleSession.sessionId },
      response: { ok: true, revoked: true },
    },
  }),
} as const;

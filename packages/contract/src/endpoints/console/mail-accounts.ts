import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../../endpoint.ts';
import { Id, Integer, List, Nullable, Ok, OneOf, Text, Timestamp } from '../../schema.ts';
import { exampleIds } from '../example-ids.ts';
import { consoleRow } from './fields.ts';

/** Of a workspace. */
export const MAIL_ACCOUNTS_MAX = 20;

const settingFields = {
  name: Text(100, { minLength: 1, description: 'Unique in the workspace.' }),
  host: Text(255, { minLength: 1 }),
  port: Integer(1, 65_535),
  tlsMode: OneOf(['tls', 'starttls', 'none'], {
    description: 'TLS from the first byte, before the sign-in, or (on private hosts only) never.',
  }),
  userName: Text(320, { minLength: 1 }),
  authKind: OneOf(['password', 'oauth']),
};
const CaCertificate = Nullable(
  Text(20_000, { description: 'PEM of an authority to trust beside the usual ones.' }),
);
const Mailboxes = List(
  Text(255, { minLength: 1 }),
  5,
  'Where to look for threads; empty: all mail, or the inbox, sent mail and archive.',
);

/** Where the hub reads live mail threads; its secret never leaves the hub. */
export const MailAccount = Type.Object({
  accountId: Id('mailAccount'),
  ...settingFields,
  caCertificate: CaCertificate,
  mailboxes: Mailboxes,
  createdAt: Timestamp(),
  updatedAt: Timestamp(),
});
export type MailAccount = Static<typeof MailAccount>;

const exampleSettings = {
  name: 'Support',
  host: 'imap.acme.dev',
  port: 993,
  tlsMode: 'tls',
  userName: 'support@acme.dev',
  authKind: 'password',
} as const;
const exampleAccount: MailAccount = {
  accountId: 'mail_0199d1c0bb007000a1b2c3d4e5f60723',
  ...exampleSettings,
  caCertificate: null,
  mailboxes: [],
  createdAt: '2026-11-02T09:00:00.000Z',
  updatedAt: '2026-11-02T09:00:00.000Z',
};
const ref = { workspaceId: exampleIds.workspace, accountId: exampleAccount.accountId };

export const mailAccounts = {
  list: defineEndpoint({
    ...consoleRow,
    name: 'consoleMailAccountList',
    path: '/console-api/v1/mail-accounts/list',
    auth: 'session',
    repeat: 'safe',
    summary: 'List the mail accounts of a workspace',
    description: 'For owners and admins. By name, without their secrets.',
    request: Type.Object({ workspaceId: Id('workspace') }),
    response: Ok({ accounts: List(MailAccount, MAIL_ACCOUNTS_MAX) }),
    errors: ['WORKSPACE_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, accounts: [exampleAccount] },
    },
  }),
  put: defineEndpoint({
    ...consoleRow,
    name: 'consoleMailAccountPut',
    path: '/console-api/v1/mail-accounts/put',
    auth: 'session',
    repeat: 'once',
    summary: 'Add a mail account, or replace one',
    description:
      'For owners and admins. Without accountId a new one. The secret is the password or the ' +
      'OAuth access token; it is sealed at rest and answered to nobody. Absent, it stays as it ' +
      'is, which only an account that is reached as before may ask for.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      accountId: Type.Optional(Id('mailAccount')),
      ...settingFields,
      caCertificate: Type.Optional(CaCertificate),
      secret: Type.Optional(Text(10_000, { minLength: 1 })),
      mailboxes: Type.Optional(Mailboxes),
    }),
    response: Ok({ account: MailAccount }),
    errors: ['WORKSPACE_NOT_FOUND', 'MAIL_ACCOUNT_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        ...exampleSettings,
        secret: 'an app password',
      },
      response: { ok: true, account: exampleAccount },
    },
  }),
  remove: defineEndpoint({
    ...consoleRow,
    name: 'consoleMailAccountRemove',
    path: '/console-api/v1/mail-accounts/remove',
    auth: 'session',
    repeat: 'once',
    summary: 'Remove a mail account and its secret',
    description: 'For owners and admins. Items that came from it stay, with their cached text.',
    request: Type.Object({ workspaceId: Id('workspace'), accountId: Id('mailAccount') }),
    response: Ok({ removed: Type.Unsafe<true>({ type: 'boolean', const: true }) }),
    errors: ['WORKSPACE_NOT_FOUND', 'MAIL_ACCOUNT_NOT_FOUND', 'NOT_ALLOWED'],
    example: { request: ref, response: { ok: true, removed: true } },
  }),
} as const;

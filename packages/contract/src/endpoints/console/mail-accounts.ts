import Type, { type Static } from 'typebox';
import { Id, Integer, List, Nullable, Ok, OneOf, Text, Timestamp } from '../../schema.ts';
import { exampleIds } from '../example-ids.ts';
import { defineConsoleEndpoint } from './fields.ts';

/** The maximum of mail accounts of a workspace. */
export const MAIL_ACCOUNTS_MAX = 20;

const settingFields = {
  name: Text(100, { minLength: 1, description: 'Unique in the workspace.' }),
  host: Text(255, { minLength: 1 }),
  port: Integer(1, 65_535),
  tlsMode: OneOf(['tls', 'starttls', 'none'], {
    description:
      'tls: from the first byte. starttls: before the sign-in. none: on private hosts only.',
  }),
  userName: Text(320, { minLength: 1 }),
  authKind: OneOf(['password', 'oauth']),
};
const CaCertificate = Nullable(
  Text(20_000, {
    description: 'The PEM of a certificate authority to trust in addition to the usual ones.',
  }),
);
const Mailboxes = List(
  Text(255, { minLength: 1 }),
  5,
  'Where to search for threads. If empty, all mail, or else inbox, sent mail and archive.',
);

/** A mail account from which the hub reads live threads. The secret never leaves the hub. */
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
  list: defineConsoleEndpoint({
    name: 'consoleMailAccountList',
    path: '/console-api/v1/mail-accounts/list',
    repeat: 'safe',
    summary: 'List the mail accounts of a workspace',
    description: 'For owners and admins. Ordered by name, without secrets.',
    request: Type.Object({ workspaceId: Id('workspace') }),
    response: Ok({ accounts: List(MailAccount, MAIL_ACCOUNTS_MAX) }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, accounts: [exampleAccount] },
    },
  }),
  put: defineConsoleEndpoint({
    name: 'consoleMailAccountPut',
    path: '/console-api/v1/mail-accounts/put',
    repeat: 'once',
    summary: 'Add a mail account, or replace one',
    description:
      'For owners and admins. Without accountId, adds an account. The secret is the password or ' +
      'the OAuth access token. It is sealed at rest and never returned. If absent, it does not ' +
      'change; that is allowed only if host, port, TLS mode, user name and kind do not change ' +
      'either.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      accountId: Type.Optional(Id('mailAccount')),
      ...settingFields,
      caCertificate: Type.Optional(CaCertificate),
      secret: Type.Optional(Text(10_000, { minLength: 1 })),
      mailboxes: Type.Optional(Mailboxes),
    }),
    response: Ok({ account: MailAccount }),
    errors: ['MAIL_ACCOUNT_NOT_FOUND'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        ...exampleSettings,
        secret: 'an app password',
      },
      response: { ok: true, account: exampleAccount },
    },
  }),
  remove: defineConsoleEndpoint({
    name: 'consoleMailAccountRemove',
    path: '/console-api/v1/mail-accounts/remove',
    repeat: 'once',
    summary: 'Remove a mail account and its secret',
    description: 'For owners and admins. Items from the account stay, with their cached text.',
    request: Type.Object({ workspaceId: Id('workspace'), accountId: Id('mailAccount') }),
    response: Ok({ removed: Type.Unsafe<true>({ type: 'boolean', const: true }) }),
    errors: ['MAIL_ACCOUNT_NOT_FOUND'],
    example: { request: ref, response: { ok: true, removed: true } },
  }),
} as const;

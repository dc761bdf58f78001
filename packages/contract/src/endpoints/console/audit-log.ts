import Type, { type Static } from 'typebox';
import {
  Cursor,
  Id,
  Integer,
  JsonObject,
  LIST_LIMIT_MAX,
  List,
  ListLimit,
  NextCursor,
  Nullable,
  Ok,
  OneOf,
  Text,
  Timestamp,
} from '../../schema.ts';
import { exampleIds } from '../example-ids.ts';
import { defineConsoleEndpoint } from './fields.ts';
import { examplePerson } from './session.ts';

const SEQ_MAX = Number.MAX_SAFE_INTEGER;
const AuditHash = Text(64, { description: 'A SHA-256 in hex, or empty before the first entry.' });

/** An act in a workspace. */
export const AuditLogEntry = Type.Object({
  seq: Integer(1, SEQ_MAX, 'The number of the entry in the workspace, without gaps.'),
  at: Timestamp(),
  actor: Text(200, {
    description: "The id of a principal, or operator for the hub's command line.",
  }),
  actorName: Nullable(Text(200, { description: 'The current name of a person.' })),
  action: Text(100, { description: 'A subject and a verb, such as device.approve.' }),
  subject: Text(300, { description: 'The id of the record that was changed.' }),
  data: JsonObject('Details for people to read.'),
  hash: AuditHash,
});
export type AuditLogEntry = Static<typeof AuditLogEntry>;

export const auditBreaks = ['missing-entry', 'altered-entry', 'broken-link'] as const;
export type AuditBreak = (typeof auditBreaks)[number];

const exampleHash = '9b74c9897bac770ffc029102a200c5de6f1a4c1b8f1a0e5c6d1f0c8a7e3b2d41';
const exampleEntry: AuditLogEntry = {
  seq: 12,
  at: '2026-11-02T09:00:00.000Z',
  actor: examplePerson.personId,
  actorName: examplePerson.name,
  action: 'token.revoke',
  subject: 'tok_1j78s1eg0003qjivc1p2',
  data: {},
  hash: exampleHash,
};

export const auditLog = {
  list: defineConsoleEndpoint({
    name: 'consoleAuditList',
    path: '/console-api/v1/audit/list',
    repeat: 'safe',
    summary: 'Read the audit log of a workspace',
    description: 'For owners and admins. Newest first. The optional fields are filters.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      actor: Type.Optional(Text(200, { minLength: 1 })),
      action: Type.Optional(Text(100, { minLength: 1 })),
      subject: Type.Optional(Text(300, { minLength: 1 })),
      fromAt: Type.Optional(Timestamp('Entries at this time or later.')),
      untilAt: Type.Optional(Timestamp('Entries before this time.')),
      limit: ListLimit,
      cursor: Cursor,
    }),
    response: Ok({ entries: List(AuditLogEntry, LIST_LIMIT_MAX), nextCursor: NextCursor }),
    example: {
      request: { workspaceId: exampleIds.workspace, action: 'token.revoke' },
      response: { ok: true, entries: [exampleEntry], nextCursor: null },
    },
  }),
  export: defineConsoleEndpoint({
    name: 'consoleAuditExport',
    path: '/console-api/v1/audit/export',
    repeat: 'once',
    summary: 'Export the audit log of a workspace',
    description:
      'For owners and admins. The whole log as JSON lines, oldest first. Each line has the ' +
      'hashed fields ([workspaceId, seq, at in ms, actor, action, subject, data as text, ' +
      'previousHash] as JSON) and the hash. The export itself is the last entry. If the ' +
      'connection breaks off before the last chunk, the export is incomplete.',
    bytes: 'response',
    request: Type.Object({ workspaceId: Id('workspace') }),
    response: Type.Object({}),
    example: { request: { workspaceId: exampleIds.workspace }, response: {} },
  }),
  verify: defineConsoleEndpoint({
    name: 'consoleAuditVerify',
    path: '/console-api/v1/audit/verify',
    repeat: 'once',
    summary: 'Verify the audit log of a workspace',
    description:
      'For owners and admins. Computes the hash of every entry again. brokenAtSeq is the first ' +
      'entry that is missing, altered or not chained to the previous one. Entries removed at the ' +
      'end leave an intact chain; to detect that, store lastSeq and lastHash elsewhere.',
    request: Type.Object({ workspaceId: Id('workspace') }),
    response: Ok({
      whole: Type.Boolean(),
      lastSeq: Integer(0, SEQ_MAX, 'The seq of the last intact entry, or 0 without any.'),
      lastHash: AuditHash,
      brokenAtSeq: Nullable(Integer(1, SEQ_MAX)),
      reason: Nullable(OneOf(auditBreaks)),
    }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: {
        ok: true,
        whole: true,
        lastSeq: 12,
        lastHash: exampleHash,
        brokenAtSeq: null,
        reason: null,
      },
    },
  }),
} as const;

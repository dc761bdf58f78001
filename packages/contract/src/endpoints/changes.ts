import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Id, List, Nullable, OneOf, Text } from '../schema.ts';
import { exampleIds } from './example-ids.ts';

/** The kinds of records whose changes are announced. */
export const changeKinds = [
  'job',
  'jobEvents',
  'reviewComment',
  'uncertainty',
  'run',
  'agent',
  'repository',
  'queue',
  'cloudAiJob',
  'contextItem',
  'contextPack',
  'upload',
  'trigger',
  'integrationEvent',
  'workspace',
  'member',
  'invitation',
  'token',
  'auditEntry',
  'mailAccount',
  'chatTeam',
  'integrationSecret',
] as const;
export type ChangeKind = (typeof changeKinds)[number];

/** The most changes in one message; if there are more of a kind, it comes once with a null id. */
export const CHANGES_PER_MESSAGE_MAX = 200;
export const CHANGE_POSITION_CHARS_MAX = 64;

export const Change = Type.Object({
  kind: OneOf(changeKinds),
  id: Nullable(
    Text(200, {
      description:
        'Of the record; for `jobEvents` of its job, for `reviewComment` of the first job of the ' +
        'work. Null: any record of this kind.',
    }),
  ),
});
export type Change = Static<typeof Change>;

/** The data of a message of the stream. */
export const ChangeMessage = Type.Object({
  changes: List(Change, CHANGES_PER_MESSAGE_MAX, 'Empty for `open` and `reset`.'),
});
export type ChangeMessage = Static<typeof ChangeMessage>;

export const changes = {
  stream: {
    ...defineEndpoint({
      name: 'changesStream',
      method: 'GET',
      path: '/control-plane/v1/changes/stream',
      tag: 'Changes',
      scopes: ['read'],
      console: true,
      repeat: 'safe',
      summary: 'Follow what changes in a workspace',
      description:
        'Server-sent events (text/event-stream) until the client leaves. Each says what changed, ' +
        'not how: read the records again. The event `open` comes first, or `reset`: changes may ' +
        'have been missed, so read everything again. Then `changes`, at most every 50 ms. The id ' +
        'of each is a position: send the last one as `after` (or in the header Last-Event-ID) to ' +
        'continue without a loss. A comment every 15 s keeps the connection open. The stream ends ' +
        'when the caller loses access or its role changes, and when the hub stops. 16 streams of ' +
        'a token or person may be open on each hub; a further one gets RATE_LIMITED.',
      request: Type.Object({
        workspaceId: Id('workspace'),
        after: Type.Optional(
          Text(CHANGE_POSITION_CHARS_MAX, {
            description: 'The position of the last event received.',
          }),
        ),
      }),
      response: ChangeMessage,
      example: {
        request: { workspaceId: exampleIds.workspace, after: '8c1fe2a94b07-1812' },
        response: { changes: [{ kind: 'job', id: exampleIds.job }] },
      },
    }),
    streams: true,
  },
} as const;

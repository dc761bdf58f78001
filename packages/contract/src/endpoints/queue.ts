import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Id, List, Nullable, Ok, Text, Timestamp } from '../schema.ts';
import { exampleIds } from './example-ids.ts';

const Scope = {
  workspaceId: Id('workspace'),
  repoId: Type.Optional(Id('repository', 'If absent, the whole workspace.')),
};

/** Pauses listed at a time. A workspace with more paused repositories lists the latest. */
const PAUSES_MAX = 200;

/** A pause of the whole workspace or of one repository. */
export const QueuePause = Type.Object({
  repoId: Nullable(Id('repository', 'Null: the whole workspace.')),
  pausedAt: Timestamp(),
  pausedBy: Nullable(
    Text(200, { description: 'The name of the person or program. Null: not recorded.' }),
  ),
  reason: Nullable(Text(1_000)),
});
export type QueuePause = Static<typeof QueuePause>;

export const queue = {
  listPauses: defineEndpoint({
    name: 'queueListPauses',
    path: '/control-plane/v1/queue/list-pauses',
    tag: 'Jobs',
    scopes: ['read', 'agent', 'enqueue'],
    console: true,
    repeat: 'safe',
    summary: 'List what is paused, since when, by whom and why',
    description:
      'The pause of the workspace comes first, then those of repositories, latest first.',
    request: Type.Object({ workspaceId: Id('workspace') }),
    response: Ok({ pauses: List(QueuePause, PAUSES_MAX + 1) }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: {
        ok: true,
        pauses: [
          {
            repoId: null,
            pausedAt: '2026-11-02T09:00:00.000Z',
            pausedBy: 'Ada',
            reason: 'Release freeze.',
          },
        ],
      },
    },
  }),
  pause: defineEndpoint({
    name: 'queuePause',
    path: '/control-plane/v1/queue/pause',
    tag: 'Jobs',
    scopes: ['enqueue'],
    console: true,
    repeat: 'safe',
    summary: 'Stop handing out jobs',
    description:
      'Pauses a workspace or one repository. Running jobs continue, and jobs can be enqueued. A ' +
      'pause that exists keeps its time; a reason replaces its reason and its author. Audited.',
    request: Type.Object({ ...Scope, reason: Type.Optional(Text(1_000)) }),
    response: Ok({ paused: Type.Boolean() }),
    errors: ['REPO_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, reason: 'Release freeze.' },
      response: { ok: true, paused: true },
    },
  }),
  resume: defineEndpoint({
    name: 'queueResume',
    path: '/control-plane/v1/queue/resume',
    tag: 'Jobs',
    scopes: ['enqueue'],
    console: true,
    repeat: 'safe',
    summary: 'Hand out jobs again',
    description: 'Ends a pause of the same workspace or repository. Audited.',
    request: Type.Object(Scope),
    response: Ok({ paused: Type.Boolean() }),
    errors: ['REPO_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, paused: false },
    },
  }),
} as const;

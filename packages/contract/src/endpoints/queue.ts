import Type from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Id, Ok, Text } from '../schema.ts';
import { exampleIds } from './example-ids.ts';

const Scope = {
  workspaceId: Id('workspace'),
  repoId: Type.Optional(Id('repository', 'If absent, the whole workspace.')),
};

export const queue = {
  pause: defineEndpoint({
    name: 'queuePause',
    method: 'POST',
    path: '/control-plane/v1/queue/pause',
    tag: 'Jobs',
    auth: 'bearer',
    scopes: ['enqueue'],
    origin: 'extension',
    console: true,
    repeat: 'safe',
    jobToken: 'none',
    summary: 'Stop handing out jobs',
    description:
      'Pauses a workspace or one repository. Running jobs continue, and jobs can be enqueued. ' +
      'Audited.',
    request: Type.Object({ ...Scope, reason: Type.Optional(Text(1_000)) }),
    response: Ok({ paused: Type.Boolean() }),
    errors: ['WORKSPACE_NOT_FOUND', 'REPO_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: { workspaceId: exampleIds.workspace, reason: 'Release freeze.' },
      response: { ok: true, paused: true },
    },
  }),
  resume: defineEndpoint({
    name: 'queueResume',
    method: 'POST',
    path: '/control-plane/v1/queue/resume',
    tag: 'Jobs',
    auth: 'bearer',
    scopes: ['enqueue'],
    origin: 'extension',
    console: true,
    repeat: 'safe',
    jobToken: 'none',
    summary: 'Hand out jobs again',
    description: 'Ends a pause of the same workspace or repository. Audited.',
    request: Type.Object(Scope),
    response: Ok({ paused: Type.Boolean() }),
    errors: ['WORKSPACE_NOT_FOUND', 'REPO_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, paused: false },
    },
  }),
} as const;

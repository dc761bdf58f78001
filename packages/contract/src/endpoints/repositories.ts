import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Cursor,
  Id,
  Integer,
  List,
  ListLimit,
  NextCursor,
  Nullable,
  Ok,
  OneOf,
  Text,
  Timestamp,
} from '../schema.ts';
import { exampleIds } from './example-ids.ts';

/** The SHA-256 of the normalized remote URL. The hub never gets the URL itself. */
export const RemoteUrlHash = Text(64, {
  pattern: '^[0-9a-f]{64}$',
  description: 'The SHA-256 of the normalized Git remote URL, in lower-case hex.',
});

export const RepositoryStatus = OneOf(['active', 'archived']);

/** The maximum of places in an order. */
export const ASK_PLACES_MAX = 10;
/** The maximum of `minutes`: a message is given up a day after its turn has come. */
export const ASK_MINUTES_MAX = 720;

/** Who is told of the questions of a repository or a run, one after the other. */
export const AskOrder = Type.Object({
  personIds: Type.Array(Nullable(Id('person')), {
    minItems: 1,
    maxItems: ASK_PLACES_MAX,
    description:
      'In this order; null is the person who enqueued the job. A person without a channel for the ' +
      'question is left out, and one who has left the workspace is passed over.',
  }),
  minutes: Integer(
    1,
    ASK_MINUTES_MAX,
    'Minutes without an answer after which the next person is told.',
  ),
});
export type AskOrder = Static<typeof AskOrder>;

export const Repository = Type.Object({
  repoId: Id('repository'),
  workspaceId: Id('workspace'),
  remoteUrlHash: RemoteUrlHash,
  label: Text(200),
  status: RepositoryStatus,
  queuePausedAt: Nullable(Timestamp('Since when no job of the repository is handed out.')),
  askOrder: Nullable(AskOrder),
  createdAt: Timestamp(),
  updatedAt: Timestamp(),
});
export type Repository = Static<typeof Repository>;

const exampleRepository: Repository = {
  repoId: exampleIds.repository,
  workspaceId: exampleIds.workspace,
  remoteUrlHash: '5b1b0a4f6c1f1d8f0f2a3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f7081',
  label: 'acme/api',
  status: 'active',
  queuePausedAt: null,
  askOrder: null,
  createdAt: '2026-11-02T09:00:00.000Z',
  updatedAt: '2026-11-02T09:00:00.000Z',
};

export const repositories = {
  resolve: defineEndpoint({
    name: 'reposResolve',
    path: '/control-plane/v1/repos/resolve',
    tag: 'Repositories',
    scopes: ['read', 'agent', 'enqueue'],
    origin: 'specification',
    console: false,
    repeat: 'safe',
    summary: 'Find a repository by the hash of its remote URL',
    description: 'Both fields are null if the hash is unknown. That is not an error.',
    request: Type.Object({ workspaceId: Id('workspace'), remoteUrlHash: RemoteUrlHash }),
    response: Ok({ repoId: Nullable(Id('repository')), repo: Nullable(Repository) }),
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        remoteUrlHash: exampleRepository.remoteUrlHash,
      },
      response: { ok: true, repoId: exampleIds.repository, repo: exampleRepository },
    },
  }),
  get: defineEndpoint({
    name: 'reposGet',
    path: '/control-plane/v1/repos/get',
    tag: 'Repositories',
    scopes: ['read', 'agent', 'enqueue'],
    origin: 'specification',
    console: true,
    repeat: 'safe',
    summary: 'Read a repository',
    description: 'Finds the repository by its id.',
    request: Type.Object({ workspaceId: Id('workspace'), repoId: Id('repository') }),
    response: Ok({ repo: Repository }),
    errors: ['REPO_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, repoId: exampleIds.repository },
      response: { ok: true, repo: exampleRepository },
    },
  }),
  upsert: defineEndpoint({
    name: 'reposUpsert',
    path: '/control-plane/v1/repos/upsert',
    tag: 'Repositories',
    scopes: ['agent', 'enqueue'],
    origin: 'specification',
    console: true,
    repeat: 'safe',
    summary: 'Create or update a repository by the hash of its remote URL',
    description:
      'Creates the repository if the hash is unknown in the workspace, with label "" and status ' +
      'active as defaults. Otherwise updates the fields that are sent. Jobs of an archived ' +
      'repository are not claimed. askOrder says who is told of questions, and only people set it; ' +
      'null is the default: the person who enqueued the job, or members if that person has no ' +
      'channel, and then the owners. A change of the label, status or order is audited.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      remoteUrlHash: RemoteUrlHash,
      label: Type.Optional(Text(200)),
      status: Type.Optional(RepositoryStatus),
      askOrder: Type.Optional(Nullable(AskOrder)),
    }),
    response: Ok({ repoId: Id('repository'), repo: Repository, created: Type.Boolean() }),
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        remoteUrlHash: exampleRepository.remoteUrlHash,
        label: 'acme/api',
      },
      response: { ok: true, repoId: exampleIds.repository, repo: exampleRepository, created: true },
    },
  }),
  list: defineEndpoint({
    name: 'reposList',
    path: '/control-plane/v1/repos/list',
    tag: 'Repositories',
    scopes: ['read', 'agent', 'enqueue'],
    console: true,
    repeat: 'safe',
    summary: 'List the repositories of a workspace',
    description: 'Newest first. Listing a repository does not make an agent serve it.',
    request: Type.Object({ workspaceId: Id('workspace'), limit: ListLimit, cursor: Cursor }),
    response: Ok({ repos: List(Repository, 200), nextCursor: NextCursor }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, repos: [exampleRepository], nextCursor: null },
    },
  }),
} as const;

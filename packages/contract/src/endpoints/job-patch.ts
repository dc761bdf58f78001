import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Id, Integer, Nullable, Ok, OneOf, Text, Timestamp } from '../schema.ts';
import { agentStatuses } from './agents.ts';
import { exampleIds } from './example-ids.ts';
import { PATCH_BYTES_MAX, SharedPatch } from './job-schemas.ts';

/** Why an answer has no patch. */
export const patchAbsences = ['not_shared', 'deleted', 'unusable'] as const;
export type PatchAbsence = (typeof patchAbsences)[number];

/** Where a patch begins: with the work, or with the round of the job. */
export const patchBeginnings = ['work', 'round'] as const;
export type PatchBeginning = (typeof patchBeginnings)[number];

/** How long the reason may be why an agent does not share a patch. */
export const PATCH_REFUSAL_CHARS_MAX = 1_000;

/** A member has asked the agent of a job for its patch. */
export const PatchRequest = Type.Object({
  askedBy: Type.Object({ id: Text(200), name: Nullable(Text(200)) }),
  askedAt: Timestamp(),
  answeredAt: Nullable(Timestamp('When the agent shared it, or said why not. Null: it waits.')),
  refusal: Nullable(
    Text(PATCH_REFUSAL_CHARS_MAX, { description: 'Why the agent does not share it.' }),
  ),
});
export type PatchRequest = Static<typeof PatchRequest>;

/** Where the commit of an ended job is. */
export const ChangesPlace = Type.Object({
  agent: Type.Object({
    agentId: Id('agent'),
    displayName: Text(200),
    status: OneOf(agentStatuses),
    lastSeenAt: Timestamp(),
  }),
  onRequest: Type.Boolean({
    description: 'Whether the agent shares the patch when a member asks, by jobs/request-patch.',
  }),
  request: Nullable(PatchRequest),
});
export type ChangesPlace = Static<typeof ChangesPlace>;

const exampleRequest: PatchRequest = {
  askedBy: { id: 'usr_1ieib5guk00c3kn3uiir', name: 'Ada Lovelace' },
  askedAt: '2026-11-02T09:20:00.000Z',
  answeredAt: null,
  refusal: null,
};

/** The patch of a job, which its agent has uploaded. */
export const jobPatch = {
  patch: defineEndpoint({
    name: 'jobsPatch',
    path: '/control-plane/v1/jobs/patch',
    tag: 'Jobs',
    scopes: ['read', 'agent', 'enqueue'],
    console: true,
    repeat: 'safe',
    jobToken: 'own-job',
    summary: 'Read the changes of a job as a patch',
    description:
      'The unified diff from baseSha to commitSha, as git prints it, without secrets that the ' +
      'agent knows. It is there only if the agent shares the changes of this repository as a ' +
      'patch; the names of the files and the counts of lines are in the evidence.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      jobId: Id('job'),
      since: Type.Optional(
        OneOf(patchBeginnings, {
          description:
            'work, the default: all changes of the work up to this job. round: only those of this ' +
            'round; commits that people made before it are where it began. In a first round both ' +
            'are the same.',
        }),
      ),
    }),
    response: Ok({
      patch: Nullable(Text(PATCH_BYTES_MAX, { description: 'Null: see absence.' })),
      absence: Nullable(
        OneOf(patchAbsences, {
          description:
            'Why there is no patch. not_shared: the agent shares none, or nothing has changed. ' +
            'deleted: its retention is over, or it was deleted. unusable: what the agent ' +
            'uploaded is no text of at most 512 KB, or does not belong to the job.',
        }),
      ),
      baseSha: Nullable(
        Text(64, {
          description:
            'Where the patch begins: the commit that the work, or with since the round, ' +
            'started from.',
        }),
      ),
      commitSha: Nullable(Text(64)),
      filesOmitted: Integer(
        0,
        1_000_000,
        'Changed files that are not in the patch: too large, or with a secret that cannot be cut.',
      ),
    }),
    errors: ['JOB_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, jobId: exampleIds.job },
      response: {
        ok: true,
        patch:
          'diff --git a/README.md b/README.md\nindex 2b3c4d5..6e7f8a9 100644\n--- a/README.md\n' +
          '+++ b/README.md\n@@ -1 +1 @@\n-# Untitled\n+# Webhooks\n',
        absence: null,
        baseSha: '4c1d0a7f5b9e2d3c8a6f1e0b7d5c4a3928171605',
        commitSha: '9f2b8e1c7d6a5f4e3d2c1b0a9f8e7d6c5b4a3928',
        filesOmitted: 0,
      },
    },
  }),
  requestPatch: defineEndpoint({
    name: 'jobsRequestPatch',
    path: '/control-plane/v1/jobs/request-patch',
    tag: 'Jobs',
    scopes: ['enqueue'],
    console: true,
    repeat: 'safe',
    summary: 'Ask the agent of a job for its patch',
    description:
      'For a job that is done or failed with a commit, whose agent has changesOnRequest for the ' +
      'repository. The agent gets the request with its next heartbeat, also after it was offline. ' +
      'A request that waits is returned as it is. Audited.',
    request: Type.Object({ workspaceId: Id('workspace'), jobId: Id('job') }),
    response: Ok({ place: ChangesPlace }),
    errors: ['JOB_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, jobId: exampleIds.job },
      response: {
        ok: true,
        place: {
          agent: {
            agentId: exampleIds.agent,
            displayName: 'build-7',
            status: 'online',
            lastSeenAt: '2026-11-02T09:19:55.000Z',
          },
          onRequest: true,
          request: exampleRequest,
        },
      },
    },
  }),
  sharePatch: defineEndpoint({
    name: 'jobsSharePatch',
    path: '/control-plane/v1/jobs/share-patch',
    tag: 'Jobs',
    scopes: ['agent'],
    console: false,
    repeat: 'safe',
    summary: 'Share the patch of an ended job that a member has asked for',
    description:
      'For the agent that was asked, while the request waits; it uploads for the job meanwhile, ' +
      'without claimGeneration. commitSha must be the commit of the evidence, which then names ' +
      'the patch. With refusal instead of patch, the agent says why it shares none.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      jobId: Id('job'),
      agentId: Id('agent'),
      commitSha: Type.Optional(Text(64, { description: 'Needed with patch.' })),
      patch: Type.Optional(SharedPatch),
      roundPatch: Type.Optional(SharedPatch),
      refusal: Type.Optional(Text(PATCH_REFUSAL_CHARS_MAX, { minLength: 1 })),
    }),
    response: Ok({ request: PatchRequest }),
    errors: ['JOB_NOT_FOUND', 'AGENT_NOT_FOUND'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        jobId: exampleIds.job,
        agentId: exampleIds.agent,
        refusal: 'The commit is not in the clone any more.',
      },
      response: {
        ok: true,
        request: {
          ...exampleRequest,
          answeredAt: '2026-11-02T09:20:12.000Z',
          refusal: 'The commit is not in the clone any more.',
        },
      },
    },
  }),
} as const;

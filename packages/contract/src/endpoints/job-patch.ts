import Type from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Id, Integer, Nullable, Ok, OneOf, Text } from '../schema.ts';
import { exampleIds } from './example-ids.ts';
import { PATCH_BYTES_MAX } from './job-schemas.ts';

/** Why an answer has no patch. */
export const patchAbsences = ['not_shared', 'deleted', 'unusable'] as const;
export type PatchAbsence = (typeof patchAbsences)[number];

/** Where a patch begins: with the work, or with the round of the job. */
export const patchBeginnings = ['work', 'round'] as const;
export type PatchBeginning = (typeof patchBeginnings)[number];

/** The patch of a job, which its agent has uploaded. */
export const jobPatch = {
  patch: defineEndpoint({
    name: 'jobsPatch',
    method: 'POST',
    path: '/control-plane/v1/jobs/patch',
    tag: 'Jobs',
    auth: 'bearer',
    scopes: ['read', 'agent', 'enqueue'],
    origin: 'extension',
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
    errors: ['WORKSPACE_NOT_FOUND', 'JOB_NOT_FOUND', 'NOT_ALLOWED'],
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
} as const;

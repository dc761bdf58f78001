import assert from 'node:assert/strict';
import { rowsOf } from './row.ts';
import { agentFields, jobFields, paths, type SpecClient, sha256 } from './spec-client.ts';

/** The values of `kind` of a job, as the specification spells them. */
export const kinds = [
  'install_ias',
  'create_run',
  'context_architect',
  'apply_decision',
  'update_git_policy',
  'git_repair',
  'work',
  'pr_review',
];

/** Claims a job and completes it as given; returns the job as it is listed afterwards. */
async function completeOne(spec: SpecClient, fields: object) {
  const agentId = await spec.addAgent();
  const jobId = await spec.addJob(await spec.addRepository());
  await spec.claim(agentId);
  const evidence = { commitSha: '9fceb02d', changedFiles: ['a.ts', 'b.ts'] };
  const body = { workspaceId: spec.workspaceId, jobId, agentId, message: 'Over.', evidence };
  await spec.ok(paths.complete, { ...body, outcome: 'done', ...fields });
  const { jobs } = await spec.ok(paths.listJobs, { workspaceId: spec.workspaceId });
  return jobs[0];
}

export const resourceRows = rowsOf('Resources and their fields', [
  [
    'resources-1',
    'All identifiers are opaque strings.',
    async (spec) => {
      const repoId = await spec.addRepository();
      const ids = [spec.workspaceId, repoId, await spec.addAgent(), await spec.addJob(repoId)];
      for (const id of ids) assert.ok(typeof id === 'string' && id.length > 0);
    },
  ],
  [
    'resources-2',
    'Field names are exact and camelCase.',
    async (spec) => {
      const { prompt, ...rest } = jobFields(spec, await spec.addRepository());
      const refused = await spec.fail(paths.enqueue, { ...rest, Prompt: prompt }, 400);
      assert.deepEqual(refused.details, [{ path: '/prompt', message: 'is required' }]);
      const job = await completeOne(spec, {});
      for (const name of Object.keys(job)) assert.match(name, /^[a-z][a-zA-Z]*$/);
    },
  ],
  [
    'workspace-1',
    'Workspace: workspaceId is a string, or null when no workspace has the slug or the caller ' +
      'lacks access.',
    async (spec) => {
      const resolve = async (slug: string) =>
        (await spec.ok(paths.resolveWorkspace, { slug })).workspaceId;
      assert.equal(await resolve(spec.slug), spec.workspaceId);
      assert.equal(await resolve('no-such-slug'), null);
      assert.equal(await resolve(spec.harness.home.slug), null);
    },
  ],
  [
    'workspace-2',
    'Workspace: workspace is an object, metadata of the workspace.',
    async (spec) => {
      const { workspace } = await spec.ok(paths.resolveWorkspace, { slug: spec.slug });
      assert.partialDeepStrictEqual(workspace, { workspaceId: spec.workspaceId, slug: spec.slug });
    },
  ],
  [
    'agent-1',
    'Agent: capabilities.executionModes is an array of string, with cli and hybrid among its ' +
      'values; capabilities.models an array of string; capabilities.canWrite a boolean.',
    async (spec) => {
      const fields = agentFields(spec);
      const modes = ['cli', 'hybrid'];
      const capabilities = { executionModes: modes, models: ['a', 'b'], canWrite: false };
      await spec.ok(paths.agentHeartbeat, { ...fields, capabilities });
      for (const wrong of [{ executionModes: 'cli' }, { models: [1] }, { canWrite: 'yes' }]) {
        const refused = { ...fields, capabilities: { ...capabilities, ...wrong } };
        await spec.fail(paths.agentHeartbeat, refused, 400);
      }
    },
  ],
  [
    'agent-2',
    'The hub uses these fields to match jobs to agents with the required capabilities.',
    async (spec) => {
      const repoId = await spec.addRepository();
      const requirements = '{"executionMode":"hybrid","model":"big"}';
      const jobId = await spec.addJob(repoId, { requirements });
      const canWrite = true;
      const fits = { executionModes: ['cli', 'hybrid'], models: ['small', 'big'], canWrite };
      for (const lacks of [
        { executionModes: ['cli'] },
        { models: ['small'] },
        { canWrite: false },
      ]) {
        const agentId = await spec.addAgent({ capabilities: { ...fits, ...lacks } });
        assert.equal((await spec.claim(agentId)).jobId, null);
      }
      const agentId = await spec.addAgent({ capabilities: fits });
      assert.equal((await spec.claim(agentId)).jobId, jobId);
    },
  ],
  [
    'repository-1',
    'Repository: remoteUrlHash is the lowercase-hex SHA-256 of the normalized Git remote origin ' +
      'URL; the URL itself is never sent.',
    async (spec) => {
      const { workspaceId } = spec;
      const remoteUrlHash = sha256('github.com/acme/api');
      await spec.ok(paths.upsertRepository, { workspaceId, remoteUrlHash, label: '' });
      for (const wrong of [remoteUrlHash.toUpperCase(), 'https://github.com/acme/api', 'abc']) {
        await spec.fail(paths.upsertRepository, { workspaceId, remoteUrlHash: wrong }, 400);
      }
    },
  ],
  [
    'repository-2',
    'Repository: repoId, workspaceId, remoteUrlHash, label (human label) and status (value ' +
      'active is shown).',
    async (spec) => {
      const { workspaceId } = spec;
      const sent = {
        workspaceId,
        remoteUrlHash: sha256('x'),
        label: 'Ünser API',
        status: 'active',
      };
      const { repoId } = await spec.ok(paths.upsertRepository, sent);
      const { repo } = await spec.ok(paths.getRepository, { workspaceId, repoId });
      assert.partialDeepStrictEqual(repo, { ...sent, repoId });
    },
  ],
  [
    'job-1',
    'Job: allowed values of kind (exact): install_ias, create_run, context_architect, ' +
      'apply_decision, update_git_policy, git_repair, work, pr_review.',
    async (spec) => {
      const fields = jobFields(spec, await spec.addRepository());
      for (const kind of kinds) await spec.ok(paths.enqueue, { ...fields, kind });
      for (const kind of ['Work', 'prReview', 'deploy', '']) {
        await spec.fail(paths.enqueue, { ...fields, kind }, 400);
      }
      const { body } = await spec.get(paths.openapi);
      assert.deepEqual(body.components.schemas.Job.properties.kind.enum, kinds);
    },
  ],
  [
    'job-2',
    'Job: role, e.g. an implementer role; the set of roles is open.',
    async (spec) => {
      const repoId = await spec.addRepository();
      await spec.addJob(repoId, { role: 'Gärtner of tests' });
      const { jobs } = await spec.ok(paths.listJobs, { workspaceId: spec.workspaceId });
      assert.equal(jobs[0].role, 'Gärtner of tests');
    },
  ],
  [
    'job-3',
    'Job: runId and requirements are optional; requirements is a string.',
    async (spec) => {
      const repoId = await spec.addRepository();
      await spec.addJob(repoId);
      await spec.addJob(repoId, { requirements: 'Be careful with {braces}.' });
      const { jobs } = await spec.ok(paths.listJobs, { workspaceId: spec.workspaceId });
      assert.equal(jobs[0].requirements, 'Be careful with {braces}.');
      assert.deepEqual([jobs[1].requirements, jobs[1].runId], [null, null]);
    },
  ],
  [
    'job-4',
    'Job: priority is an integer.',
    async (spec) => {
      const fields = jobFields(spec, await spec.addRepository());
      for (const priority of [-5, 0, 7]) await spec.ok(paths.enqueue, { ...fields, priority });
      for (const priority of [0.5, '1', null]) {
        await spec.fail(paths.enqueue, { ...fields, priority }, 400);
      }
    },
  ],
  [
    'job-5',
    'Job: leaseMs is an integer, the lease duration in milliseconds.',
    async (spec) => {
      const agentId = await spec.addAgent();
      await spec.addJob(await spec.addRepository());
      const body = { workspaceId: spec.workspaceId, agentId };
      await spec.fail(paths.claimNext, { ...body, leaseMs: 1_000.5 }, 400);
      const { job, leaseExpiresAt } = await spec.claim(agentId, { leaseMs: 90_000 });
      assert.equal(job.leaseMs, 90_000);
      assert.equal(Date.parse(leaseExpiresAt), spec.clock.nowMs() + 90_000);
    },
  ],
  [
    'job-6',
    'Job: outcome is done, failed or blocked (set at completion).',
    async (spec) => {
      for (const outcome of ['done', 'failed', 'blocked']) {
        assert.equal((await completeOne(spec, { outcome })).outcome, outcome);
      }
      await assert.rejects(completeOne(spec, { outcome: 'canceled' }), /400/);
    },
  ],
  [
    'job-7',
    'Job: outcomeReason is a string, optional.',
    async (spec) => {
      assert.equal((await completeOne(spec, {})).outcomeReason, null);
      const outcomeReason = 'Two schemas contradict each other.';
      const job = await completeOne(spec, { outcome: 'blocked', outcomeReason });
      assert.equal(job.outcomeReason, outcomeReason);
    },
  ],
  [
    'job-8',
    'Job: evidence is an object that contains commitSha (string) and changedFiles (array of ' +
      'string).',
    async (spec) => {
      const evidence = { commitSha: 'abc', changedFiles: ['Ä b.ts'] };
      assert.deepEqual((await completeOne(spec, { evidence })).evidence, evidence);
      for (const wrong of [{ commitSha: 1 }, { changedFiles: 'a.ts' }, { changedFiles: [1] }]) {
        await assert.rejects(completeOne(spec, { evidence: { ...evidence, ...wrong } }), /400/);
      }
    },
  ],
  [
    'job-9',
    'Job: message is a progress message (job heartbeat, optional) or result message (completion).',
    async (spec) => {
      const job = await completeOne(spec, { message: 'All green.' });
      assert.equal(job.message, 'All green.');
    },
  ],
  [
    'job-event-1',
    'Job event kinds: enqueued, claimed, heartbeat, log, completed, failed, blocked, canceled, ' +
      'recovered. Retrieved per job with an optional limit (integer).',
    async (spec) => {
      const { body } = await spec.get(paths.openapi);
      assert.deepEqual(body.components.schemas.JobEvent.properties.kind.enum, [
        'enqueued',
        'claimed',
        'heartbeat',
        'log',
        'completed',
        'failed',
        'blocked',
        'canceled',
        'recovered',
      ]);
      const { workspaceId } = spec;
      const { jobId } = await completeOne(spec, {});
      const all = await spec.ok(paths.listJobEvents, { workspaceId, jobId });
      assert.equal(all.events.length, 3);
      const some = await spec.ok(paths.listJobEvents, { workspaceId, jobId, limit: 2 });
      assert.equal(some.events.length, 2);
      await spec.fail(paths.listJobEvents, { workspaceId, jobId, limit: '2' }, 400);
    },
  ],
]);

import { endpoints } from '@signalbox/contract';
import { compareIdAnswers, type IdQuestion } from '../support/api-scenario.ts';
import type { World } from '../support/api-world.ts';
import { ensureRun, openDecision } from '../support/decision-world.ts';
import { examplePlace } from '../support/review-world.ts';

const {
  agents,
  cloudAiJobs,
  contextItems,
  contextPacks,
  jobEvents,
  jobs,
  jobTemplates,
  queue,
  repositories,
  reviewComments,
  runs,
  uncertainties,
  works,
} = endpoints;

type Fields = Record<string, unknown>;
const inHome = ({ home }: World, fields: Fields) => ({ workspaceId: home.workspaceId, ...fields });
const entries = [{ logSeq: 1, message: 'a' }];
const said = { claimGeneration: 1, number: 1, word: 'changed', note: '' };
const draft = { kind: 'work', prompt: 'Do it.' };
const goal = { runRef: 'goal', status: 'planned' };
const answered = { mode: 'answered', value: 'a', confidence: 1 };

/** Calls that name a job, with their other required fields. */
const jobQuestions = (
  [
    [jobs.get, () => ({})],
    [jobs.heartbeat, ({ agentId }: World) => ({ agentId })],
    [jobs.complete, ({ agentId }: World) => ({ agentId, outcome: 'done' })],
    [jobs.cancel, () => ({})],
    [jobs.retry, () => ({})],
    [jobs.continue, () => ({ message: 'More.' })],
    [jobs.chooseVariant, () => ({})],
    [works.approve, () => ({ commitSha: 'b'.repeat(40) })],
    [works.land, () => ({})],
    [works.close, () => ({})],
    [jobs.takeMessages, ({ agentId }: World) => ({ agentId, claimGeneration: 1 })],
    [reviewComments.list, () => ({})],
    [reviewComments.save, () => ({ place: examplePlace, text: 'No.' })],
    [reviewComments.answer, ({ agentId }: World) => ({ agentId, ...said })],
    [jobs.log, () => ({})],
    [jobs.activity, () => ({})],
    [jobs.searchLog, () => ({ text: 'x' })],
    [jobs.downloadLog, () => ({})],
    [jobs.requestPatch, () => ({})],
    [jobs.sharePatch, ({ agentId }: World) => ({ agentId, refusal: 'No.' })],
    [jobEvents.listForJob, () => ({})],
    [jobEvents.append, ({ agentId }: World) => ({ agentId, entries })],
  ] as const
).map(
  ([endpoint, more]): IdQuestion => ({
    endpoint,
    field: 'jobId',
    unknown: 'job_1j78s1co0003qjivc1or',
    foreign: ({ other }) => other.runningJobId,
    error: 'JOB_NOT_FOUND',
    body: (world, jobId) => inHome(world, { jobId, ...more(world) }),
  }),
);

const cloudAiJobQuestions = (
  [
    [cloudAiJobs.get, () => ({})],
    [cloudAiJobs.heartbeat, ({ agentId }: World) => ({ agentId })],
    [cloudAiJobs.complete, ({ agentId }: World) => ({ agentId, outcome: 'done' })],
  ] as const
).map(
  ([endpoint, more]): IdQuestion => ({
    endpoint,
    field: 'cloudAiJobId',
    unknown: 'aij_1j78s1k00003qjivc1pg',
    foreign: ({ other }) => other.cloudAiJobId,
    error: 'CLOUD_AI_JOB_NOT_FOUND',
    body: (world, cloudAiJobId) => inHome(world, { cloudAiJobId, ...more(world) }),
  }),
);

const repositoryQuestions = (
  [
    [repositories.get, {}],
    [jobs.enqueue, draft],
    [queue.pause, {}],
    [queue.resume, {}],
    [runs.upsertV1, goal],
  ] as const
).map(
  ([endpoint, more]): IdQuestion => ({
    endpoint,
    field: 'repoId',
    unknown: 'repo_1j78s1cg0003qjivc1oq',
    foreign: ({ other }) => other.repoId,
    error: 'REPO_NOT_FOUND',
    body: (world, repoId) => inHome(world, { repoId, ...more }),
  }),
);

const agentQuestions = (
  [
    [jobs.claimNext, {}],
    [jobs.heartbeat, {}],
    [jobs.complete, { outcome: 'done' }],
    [jobEvents.append, { entries }],
    [cloudAiJobs.claimNext, {}],
  ] as const
).map(
  ([endpoint, more]): IdQuestion => ({
    endpoint,
    field: 'agentId',
    unknown: 'agt_1j78s1c80003qjivc1op',
    foreign: ({ other }) => other.agentId,
    error: 'AGENT_NOT_FOUND',
    async body(world, agentId) {
      const { jobs: list } = await world.call(jobs.list, inHome(world, { limit: 1 }) as never);
      return inHome(world, { jobId: list[0]?.jobId, agentId, ...more });
    },
  }),
);

const agentQuestion: IdQuestion = {
  endpoint: agents.get,
  field: 'agentId',
  unknown: 'agt_1j78s1c80003qjivc1op',
  foreign: ({ other }) => other.agentId,
  error: 'AGENT_NOT_FOUND',
  body: (world, agentId) => inHome(world, { agentId }),
};

const modelCall = { kind: 'ask', input: { messages: [{ role: 'user', content: 'Say yes.' }] } };
const asked = { prompt: 'Which?', kind: 'choice', confidence: 0 };

const runQuestions = (
  [
    [runs.get, {}],
    [runs.overview, {}],
    [runs.graph, {}],
    [runs.upsertV2, { status: 'done' }],
    [uncertainties.createWithAutoPromotion, asked],
    [jobs.enqueue, draft],
    [cloudAiJobs.enqueue, modelCall],
    [contextPacks.buildRunV1, {}],
    [contextPacks.resolveRunV1, {}],
  ] as const
).map(
  ([endpoint, more]): IdQuestion => ({
    endpoint,
    field: 'runId',
    unknown: 'run_1j78s1d80003qjivc1ot',
    foreign: ({ other }) => other.runId,
    error: 'RUN_NOT_FOUND',
    body: (world, runId) => inHome(world, { repoId: world.home.repoId, runId, ...more }),
  }),
);

const uncertaintyQuestions = (
  [
    [uncertainties.get, {}],
    [uncertainties.wait, { waitMs: 0 }],
    [uncertainties.promote, {}],
    [uncertainties.addResolution, answered],
  ] as const
).map(
  ([endpoint, more]): IdQuestion => ({
    endpoint,
    field: 'uncertaintyId',
    unknown: 'unc_1j78s1g00003qjivc1p0',
    foreign: ({ other }) => other.uncertaintyId,
    error: 'UNCERTAINTY_NOT_FOUND',
    body: (world, uncertaintyId) => inHome(world, { uncertaintyId, ...more }),
  }),
);

const itemQuestions = (
  [
    [contextItems.get, 'itemId'],
    [contextItems.remove, 'itemId'],
    [contextItems.upsert, 'itemId'],
    [contextItems.upsert, 'supersededBy'],
  ] as const
).map(
  ([endpoint, field]): IdQuestion => ({
    endpoint,
    field,
    unknown: 'ctx_1j78s1o00003qjivc1q0',
    foreign: ({ other }) => other.itemId,
    error: 'CONTEXT_ITEM_NOT_FOUND',
    body: (world, id) => inHome(world, { [field]: id, kind: 'note', text: 'A note.' }),
  }),
);

const commentQuestions = (
  [
    [reviewComments.remove, {}],
    [reviewComments.resolve, { isResolved: true }],
  ] as const
).map(
  ([endpoint, more]): IdQuestion => ({
    endpoint,
    field: 'commentId',
    unknown: 'com_1j78s1o00003qjivc1q0',
    foreign: ({ other }) => other.commentId,
    error: 'COMMENT_NOT_FOUND',
    body: (world, commentId) => inHome(world, { commentId, ...more }),
  }),
);

const packQuestion: IdQuestion = {
  endpoint: contextPacks.resolveRunV1,
  field: 'packId',
  unknown: 'pack_1j78s1o80003qjivc1q1',
  foreign: ({ other }) => other.packId,
  error: 'CONTEXT_PACK_NOT_FOUND',
  body: async (world, packId) => inHome(world, { runId: await ensureRun(world), packId }),
};

const workspaceQuestions = [
  jobs.list,
  jobs.get,
  jobs.enqueue,
  jobs.claimNext,
  jobs.heartbeat,
  jobs.complete,
  jobs.cancel,
  jobs.retry,
  jobs.continue,
  jobs.chooseVariant,
  works.approve,
  works.land,
  works.close,
  jobs.takeMessages,
  jobs.release,
  jobs.log,
  jobs.activity,
  jobs.searchLog,
  jobs.downloadLog,
  jobs.requestPatch,
  jobs.sharePatch,
  jobEvents.listForJob,
  jobEvents.append,
  agents.heartbeat,
  agents.list,
  agents.get,
  agents.command,
  repositories.resolve,
  repositories.get,
  repositories.upsert,
  repositories.list,
  queue.pause,
  queue.resume,
  ...Object.values(jobTemplates),
  ...Object.values(reviewComments),
  ...Object.values(cloudAiJobs),
  ...Object.values(runs),
  ...Object.values(uncertainties),
  ...Object.values(contextItems),
  ...Object.values(contextPacks),
].map(
  (endpoint): IdQuestion => ({
    endpoint,
    field: 'workspaceId',
    unknown: 'ws_1j78s1a0000oo',
    foreign: ({ other }) => other.workspaceId,
    error: 'WORKSPACE_NOT_FOUND',
    // Sent with the ids of the other workspace: even correct ids must not grant access.
    body: ({ other }, workspaceId) => ({
      ...endpoint.example.request,
      ...('jobId' in endpoint.example.request ? { jobId: other.runningJobId } : {}),
      ...('agentId' in endpoint.example.request ? { agentId: other.agentId } : {}),
      ...('cloudAiJobId' in endpoint.example.request ? { cloudAiJobId: other.cloudAiJobId } : {}),
      ...('repoId' in endpoint.example.request ? { repoId: other.repoId } : {}),
      ...('runId' in endpoint.example.request ? { runId: other.runId } : {}),
      ...('itemId' in endpoint.example.request ? { itemId: other.itemId } : {}),
      ...('uncertaintyId' in endpoint.example.request
        ? { uncertaintyId: other.uncertaintyId }
        : {}),
      workspaceId,
    }),
  }),
);

compareIdAnswers('an unknown id and one of another workspace get the same bytes', [
  ...jobQuestions,
  ...cloudAiJobQuestions,
  ...repositoryQuestions,
  agentQuestion,
  ...agentQuestions,
  ...runQuestions,
  ...uncertaintyQuestions,
  ...itemQuestions,
  ...commentQuestions,
  packQuestion,
  ...workspaceQuestions,
  {
    endpoint: uncertainties.createWithAutoPromotion,
    field: 'jobId',
    unknown: 'job_1j78s1co0003qjivc1or',
    foreign: ({ other }) => other.runningJobId,
    error: 'JOB_NOT_FOUND',
    body: async (world, jobId) => inHome(world, { runId: await ensureRun(world), jobId, ...asked }),
  },
  {
    endpoint: uncertainties.addResolution,
    field: 'createdByJobId',
    unknown: 'job_1j78s1co0003qjivc1or',
    foreign: ({ other }) => other.runningJobId,
    error: 'JOB_NOT_FOUND',
    async body(world, createdByJobId) {
      const uncertaintyId = await openDecision(world, await ensureRun(world));
      return inHome(world, { uncertaintyId, createdByJobId, ...answered });
    },
  },
  {
    endpoint: runs.upsertV1,
    field: 'blockedByDecisionRequestId',
    unknown: 'dec_1j78s1g80003qjivc1p1',
    foreign: ({ other }) => other.decisionRequestId,
    error: 'UNCERTAINTY_NOT_FOUND',
    body: (world, blockedByDecisionRequestId) =>
      inHome(world, { repoId: world.home.repoId, ...goal, blockedByDecisionRequestId }),
  },
  {
    endpoint: cloudAiJobs.enqueue,
    field: 'jobId',
    unknown: 'job_1j78s1co0003qjivc1or',
    foreign: ({ other }) => other.jobId,
    error: 'JOB_NOT_FOUND',
    body: (world, jobId) => inHome(world, { jobId, ...modelCall }),
  },
  {
    endpoint: jobs.enqueue,
    field: 'dependsOn',
    unknown: 'job_1j78s1co0003qjivc1or',
    foreign: ({ other }) => other.jobId,
    error: 'JOB_NOT_FOUND',
    body: (world, id) => inHome(world, { ...draft, repoId: world.home.repoId, dependsOn: [id] }),
  },
  {
    endpoint: jobs.enqueue,
    field: 'parentJobId',
    unknown: 'job_1j78s1co0003qjivc1or',
    foreign: ({ other }) => other.jobId,
    error: 'JOB_NOT_FOUND',
    body: (world, parentJobId) =>
      inHome(world, { ...draft, repoId: world.home.repoId, parentJobId }),
  },
]);

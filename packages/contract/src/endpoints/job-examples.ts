import { exampleIds } from './example-ids.ts';
import { type Job, LEASE_MS_DEFAULT } from './job-schemas.ts';

/** Jobs for the examples of the documentation. */
export const exampleJob: Job = {
  jobId: exampleIds.job,
  workspaceId: exampleIds.workspace,
  repoId: exampleIds.repository,
  runId: null,
  kind: 'work',
  role: 'implementer',
  title: 'Add a health check to the API.',
  prompt: 'Add a health check to the API.',
  requirements: null,
  tool: 'claude',
  model: 'claude-sonnet-5',
  priority: 0,
  status: 'pending',
  attempt: 0,
  maxAttempts: 5,
  agentId: null,
  leaseMs: null,
  leaseExpiresAt: null,
  availableAt: '2026-11-02T09:00:00.000Z',
  createdAt: '2026-11-02T09:00:00.000Z',
  createdBy: { id: 'usr_1j78s1do0003qjivc1ov', name: 'Ada' },
  startedAt: null,
  finishedAt: null,
  outcome: null,
  outcomeReason: null,
  message: null,
  evidence: null,
  changed: null,
  verdict: null,
  usage: null,
  budget: null,
  parentJobId: null,
  continuesJobId: null,
  workJobId: null,
  round: 1,
  landsJobId: null,
  workEnded: null,
  dependsOn: [],
  concurrencyKey: null,
  cancelRequestedAt: null,
  waitingOnUncertaintyId: null,
  decisions: [],
};

export const runningJob: Job = {
  ...exampleJob,
  status: 'running',
  attempt: 1,
  agentId: exampleIds.agent,
  leaseMs: LEASE_MS_DEFAULT,
  leaseExpiresAt: '2026-11-02T09:10:01.000Z',
  startedAt: '2026-11-02T09:00:01.000Z',
};

export const doneJob: Job = {
  ...runningJob,
  status: 'done',
  leaseMs: null,
  leaseExpiresAt: null,
  finishedAt: '2026-11-02T09:04:00.000Z',
  outcome: 'done',
  message: 'Added GET /health with a test.',
  evidence: {
    commitSha: '9fceb02d0ae598e95dc970b74767f19372d61af8',
    changedFiles: ['src/health.ts', 'test/health.test.ts'],
    branch: 'signalbox/job_1-1',
    verdict: 'verified',
    checks: [
      { name: 'npm test', command: 'npm test', outcome: 'passed', exitCode: 0, durationMs: 8_400 },
    ],
  },
  changed: true,
  verdict: 'verified',
};

export const canceledJob: Job = {
  ...exampleJob,
  status: 'canceled',
  finishedAt: '2026-11-02T09:01:00.000Z',
  cancelRequestedAt: '2026-11-02T09:01:00.000Z',
};

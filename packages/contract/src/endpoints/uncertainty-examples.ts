import { exampleIds } from './example-ids.ts';
import type { DecisionSituation, Resolution, Uncertainty } from './uncertainty-schemas.ts';

export const exampleUncertaintyId = 'unc_1j78s1g00003qjivc1p0';
export const exampleDecisionRequestId = 'dec_1j78s1g80003qjivc1p1';

export const openUncertainty: Uncertainty = {
  uncertaintyId: exampleUncertaintyId,
  decisionRequestId: exampleDecisionRequestId,
  workspaceId: exampleIds.workspace,
  repoId: exampleIds.repository,
  runId: exampleIds.run,
  jobId: exampleIds.job,
  status: 'open',
  promoted: true,
  title: 'May the health check report the version of the build?',
  prompt: 'May the health check report the version of the build?',
  kind: 'approval',
  confidence: 0.4,
  context: 'The endpoint is public. The version helps operators and tells strangers as much.',
  impact: 'medium',
  reversibility: 'easy',
  assumedValue: 'no',
  assumedReasoning: 'Leaving it out reveals nothing and can be added later.',
  autoPromoteThreshold: 0.7,
  options: [
    { value: 'yes', label: 'Report it' },
    { value: 'no', label: 'Leave it out' },
  ],
  recommendedValue: 'no',
  deadlineAt: null,
  onDeadline: 'keep_waiting',
  overdue: false,
  resolution: null,
  resolutions: [],
  handOverAt: null,
  createdAt: '2026-11-02T09:03:00.000Z',
  promotedAt: '2026-11-02T09:03:00.000Z',
  resolvedAt: null,
  actionKey: null,
  takenAt: null,
};

export const sessionQuestion: Uncertainty = {
  ...openUncertainty,
  repoId: null,
  runId: null,
  jobId: null,
  confidence: 0,
  autoPromoteThreshold: 1,
  title: 'Claude Code asks to run a command: npm publish',
  prompt: 'Claude Code asks to run a command: npm publish',
  context: 'Command:\nnpm publish',
  impact: '',
  reversibility: '',
  assumedValue: '',
  assumedReasoning: '',
  options: [
    { value: 'allow', label: 'Allow once' },
    { value: 'refuse', label: 'Refuse' },
  ],
  recommendedValue: null,
  deadlineAt: '2026-11-02T10:03:00.000Z',
  session: { tool: 'claude', machine: 'ada-laptop', sessionId: '636182fc' },
};

export const exampleResolution: Resolution = {
  resolutionId: 'res_1j78s1gg0003qjivc1p2',
  mode: 'answered',
  value: 'no',
  confidence: 1,
  commitSha: null,
  createdByJobId: null,
  createdBy: 'Ada',
  createdById: 'usr_1j78s1do0003qjivc1ov',
  createdAt: '2026-11-02T09:20:00.000Z',
};

export const resolvedUncertainty: Uncertainty = {
  ...openUncertainty,
  status: 'resolved',
  resolution: exampleResolution,
  resolutions: [exampleResolution],
  resolvedAt: exampleResolution.createdAt,
};

export const exampleSituation: DecisionSituation = {
  writtenBy: 'tool',
  writtenByName: null,
  trust: 'external',
  run: {
    runId: exampleIds.run,
    runRef: 'health-check-2026-11',
    title: 'Health check',
    status: 'in_progress',
  },
  repository: { repoId: exampleIds.repository, label: 'acme/api' },
  job: {
    jobId: exampleIds.job,
    title: 'Add a health check to the API.',
    status: 'blocked',
    attempt: 1,
  },
  agent: { agentId: exampleIds.agent, displayName: 'build-7', status: 'online' },
  waitingJobs: 3,
};

import type { Endpoint } from './endpoint.ts';
import { deviceTokens, invitations, members, serviceTokens } from './endpoints/administration.ts';
import { agentsReport } from './endpoints/agent-report.ts';
import { agents } from './endpoints/agents.ts';
import { changes } from './endpoints/changes.ts';
import { cloudAiJobs } from './endpoints/cloud-ai-jobs.ts';
import { contextItems } from './endpoints/context-items.ts';
import { contextPacks } from './endpoints/context-packs.ts';
import { devices } from './endpoints/devices.ts';
import { health } from './endpoints/health.ts';
import { integrationEvents } from './endpoints/integration-events.ts';
import { integrations } from './endpoints/integrations.ts';
import { jobActivity } from './endpoints/job-activity.ts';
import { jobEvents } from './endpoints/job-events.ts';
import { jobLog } from './endpoints/job-log.ts';
import { jobPatch } from './endpoints/job-patch.ts';
import { jobTemplates } from './endpoints/job-templates.ts';
import { jobs } from './endpoints/jobs.ts';
import { queue } from './endpoints/queue.ts';
import { repositories } from './endpoints/repositories.ts';
import { reviewComments } from './endpoints/review-comments.ts';
import { runs } from './endpoints/runs.ts';
import { sessionQuestions } from './endpoints/session-questions.ts';
import { tokens } from './endpoints/tokens.ts';
import { triggers } from './endpoints/triggers.ts';
import { uncertainties } from './endpoints/uncertainties.ts';
import { uploads } from './endpoints/uploads.ts';
import { works } from './endpoints/works.ts';
import { workspaces } from './endpoints/workspaces.ts';

/**
 * The whole machine-to-machine interface: every endpoint of the specification and every extension.
 * A row without a handler in the hub is not in `openapi.json`, and its path is 404.
 */
export const endpoints = {
  health,
  workspaces,
  devices,
  tokens,
  members,
  invitations,
  serviceTokens,
  deviceTokens,
  agents: { ...agents, report: agentsReport },
  repositories,
  jobs: { ...jobs, ...jobLog, ...jobActivity, ...jobPatch },
  jobEvents,
  jobTemplates,
  reviewComments,
  works,
  queue,
  runs,
  uncertainties,
  sessionQuestions,
  cloudAiJobs,
  contextItems,
  contextPacks,
  uploads,
  integrations,
  integrationEvents,
  triggers,
  changes,
} as const;

/** The same rows in one list, in the order of the table. */
export const endpointList: readonly Endpoint[] = Object.values(endpoints).flatMap((group) =>
  Object.values(group),
);

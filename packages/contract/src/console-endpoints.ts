import type { Endpoint } from './endpoint.ts';
import { agents } from './endpoints/agents.ts';
import { cloudAiJobs } from './endpoints/cloud-ai-job-endpoints.ts';
import { deviceTokens, serviceTokens } from './endpoints/console-access.ts';
import { auditLog } from './endpoints/console-audit.ts';
import { deviceApprovals } from './endpoints/console-devices.ts';
import { chatTeams, triggerSettings } from './endpoints/console-integrations.ts';
import { invitations } from './endpoints/console-invitations.ts';
import { mailAccounts } from './endpoints/console-mail-accounts.ts';
import { members } from './endpoints/console-members.ts';
import { consoleSession, firstOwner } from './endpoints/console-session.ts';
import { account, workspaceSettings } from './endpoints/console-workspaces.ts';
import { contextItems } from './endpoints/context-items.ts';
import { contextPacks } from './endpoints/context-packs.ts';
import { integrationEvents } from './endpoints/integration-events.ts';
import { jobs } from './endpoints/job-endpoints.ts';
import { jobEvents } from './endpoints/job-events.ts';
import { queue } from './endpoints/queue.ts';
import { repositories } from './endpoints/repositories.ts';
import { runs } from './endpoints/runs.ts';
import { triggers } from './endpoints/triggers.ts';
import { uncertainties } from './endpoints/uncertainty-endpoints.ts';
import { uploads } from './endpoints/uploads.ts';

/**
 * What the hub offers its own console, and nobody else. A person proves herself by the session
 * cookie (HttpOnly, set and ended by the hub alone); requests are same-origin JSON, and the hub
 * refuses them with NOT_ALLOWED unless Sec-Fetch-Site or Origin says so. The control plane never
 * accepts the cookie, and these paths never accept a bearer token.
 */
const CONSOLE_PREFIX = '/console-api/';
const CONTROL_PLANE_PREFIX = '/control-plane/';

/** The console's own endpoints. They are not part of `openapi.json`. */
export const consoleEndpoints = {
  session: consoleSession,
  firstOwner,
  deviceApprovals,
  account,
  workspaceSettings,
  members,
  invitations,
  serviceTokens,
  deviceTokens,
  mailAccounts,
  auditLog,
  triggerSettings,
  chatTeams,
} as const;

/** The same rows in one list. */
export const consoleEndpointList: readonly Endpoint[] = Object.values(consoleEndpoints).flatMap(
  (noun) => Object.values(noun),
);

/**
 * The control plane's rows that the hub answers to the console as well, with the session in place
 * of the token: same schemas, same policy by role, at `consolePathOf(row)`.
 */
export const mirroredEndpoints = {
  jobs: {
    list: jobs.list,
    get: jobs.get,
    enqueue: jobs.enqueue,
    cancel: jobs.cancel,
    retry: jobs.retry,
    release: jobs.release,
  },
  jobEvents: { listForJob: jobEvents.listForJob },
  repositories: { list: repositories.list },
  agents: { list: agents.list },
  queue: { pause: queue.pause, resume: queue.resume },
  runs: { list: runs.list, get: runs.get },
  uncertainties: {
    list: uncertainties.list,
    get: uncertainties.get,
    addResolution: uncertainties.addResolution,
    promote: uncertainties.promote,
  },
  triggers: { list: triggers.list, get: triggers.get },
  integrationEvents: {
    list: integrationEvents.list,
    get: integrationEvents.get,
    replay: integrationEvents.replay,
  },
  cloudAiJobs: { get: cloudAiJobs.get },
  uploads: { create: uploads.create, getDownloadUrl: uploads.getDownloadUrl },
  contextItems: {
    upsert: contextItems.upsert,
    get: contextItems.get,
    list: contextItems.list,
    search: contextItems.search,
  },
  contextPacks: { buildRunV1: contextPacks.buildRunV1, resolveRunV1: contextPacks.resolveRunV1 },
} as const;

/** The mirrored rows in one list. */
export const mirroredEndpointList: readonly Endpoint[] = Object.values(mirroredEndpoints).flatMap(
  (noun) => Object.values(noun),
);

/**
 * Where the console finds an endpoint: `/control-plane/v1/jobs/list` is mirrored at
 * `/console-api/v1/jobs/list`; the console's own rows are where their path says.
 */
export function consolePathOf(endpoint: Pick<Endpoint, 'path'>): string {
  return endpoint.path.startsWith(CONTROL_PLANE_PREFIX)
    ? CONSOLE_PREFIX + endpoint.path.slice(CONTROL_PLANE_PREFIX.length)
    : endpoint.path;
}

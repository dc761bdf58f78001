import type { Endpoint } from './endpoint.ts';
import { account } from './endpoints/console/account.ts';
import { assistantConsents } from './endpoints/console/assistant-consents.ts';
import { auditLog } from './endpoints/console/audit-log.ts';
import { chatTeams } from './endpoints/console/chat-teams.ts';
import { decisionRules } from './endpoints/console/decision-rules.ts';
import { deviceApprovals } from './endpoints/console/device-approvals.ts';
import { firstOwner } from './endpoints/console/first-owner.ts';
import { integrationSecrets } from './endpoints/console/integration-secrets.ts';
import { invitations } from './endpoints/console/invitations.ts';
import { mailAccounts } from './endpoints/console/mail-accounts.ts';
import { members } from './endpoints/console/members.ts';
import { notificationChannels, notifications } from './endpoints/console/notifications.ts';
import { passwordResets } from './endpoints/console/password-resets.ts';
import { consoleSession } from './endpoints/console/session.ts';
import { deviceTokens, serviceTokens } from './endpoints/console/tokens.ts';
import { triggerSettings } from './endpoints/console/trigger-settings.ts';
import { workspaceSettings } from './endpoints/console/workspace-settings.ts';
import { endpoints } from './endpoints.ts';

/**
 * Where the console's own endpoints are. A person authenticates with the session cookie (HttpOnly,
 * set and ended by the hub alone). Requests are same-origin JSON: the hub refuses them with
 * NOT_ALLOWED unless Sec-Fetch-Site or Origin shows that they come from its own pages. The control
 * plane never accepts the cookie, and these paths never accept a bearer token.
 */
const CONSOLE_PREFIX = '/console-api/';
const CONTROL_PLANE_PREFIX = '/control-plane/';

/** The console's own endpoints. They are not part of `openapi.json`. */
export const consoleEndpoints = {
  session: consoleSession,
  firstOwner,
  passwordResets,
  deviceApprovals,
  assistantConsents,
  account,
  workspaceSettings,
  members,
  invitations,
  serviceTokens,
  deviceTokens,
  mailAccounts,
  notificationChannels,
  notifications,
  decisionRules,
  auditLog,
  triggerSettings,
  chatTeams,
  integrationSecrets,
} as const;

/** The same rows in one list. */
export const consoleEndpointList: readonly Endpoint[] = Object.values(consoleEndpoints).flatMap(
  (group) => Object.values(group),
);

/** The verbs of a group whose rows say `console: true`. */
type MirroredVerbs<Rows> = {
  readonly [Verb in keyof Rows as Rows[Verb] extends { console: true } ? Verb : never]: Rows[Verb];
};
/** The groups of a table that have such verbs. */
type MirroredNouns<Table> = {
  readonly [Group in keyof Table as keyof MirroredVerbs<Table[Group]> extends never
    ? never
    : Group]: MirroredVerbs<Table[Group]>;
};

/**
 * The rows of the control plane that the console may call, by group and verb. The hub serves them
 * at `consolePathOf(row)` too, with the session in place of the token: same schemas, same policy by
 * role.
 */
export const mirroredEndpoints = mirrored(endpoints);

/** The mirrored rows in one list. */
export const mirroredEndpointList: readonly Endpoint[] = Object.values(mirroredEndpoints).flatMap(
  (group) => Object.values(group),
);

function mirrored<T extends Readonly<Record<string, Readonly<Record<string, Endpoint>>>>>(
  table: T,
): MirroredNouns<T> {
  const groups = Object.entries(table).map(([group, rows]) => [
    group,
    Object.fromEntries(Object.entries(rows).filter(([, row]) => row.console)),
  ]);
  const rest = groups.filter(([, rows]) => Object.keys(rows ?? {}).length > 0);
  // The same selection as the type makes; no type can follow Object.entries.
  return Object.fromEntries(rest) as MirroredNouns<T>;
}

/**
 * Where the console calls an endpoint: `/control-plane/v1/jobs/list` is mirrored at
 * `/console-api/v1/jobs/list`; the console's own rows are at their own path.
 */
export function consolePathOf(endpoint: Pick<Endpoint, 'path'>): string {
  return endpoint.path.startsWith(CONTROL_PLANE_PREFIX)
    ? CONSOLE_PREFIX + endpoint.path.slice(CONTROL_PLANE_PREFIX.length)
    : endpoint.path;
}

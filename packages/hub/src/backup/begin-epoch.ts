import { disownAgents } from '../agents/store.ts';
import { appendAudit } from '../audit/append.ts';
import type { Tx } from '../db/engine.ts';
import { writeNextEpoch } from '../db/epoch.ts';
import { deleteAllDevices } from '../devices/store.ts';
import {
  listAllIntegrationSecrets,
  markIntegrationSecretRevoked,
} from '../integrations/store-secrets.ts';
import { recordRestore } from '../jobs/record-restore.ts';
import { revokeAllInvitations } from '../members/store.ts';
import { SESSION_IDLE_MS } from '../people/policy.ts';
import { endSignInLinks } from '../people/sign-in-link.ts';
import { readPersonNames, revokeAllSessions } from '../people/store.ts';
import { endAllPasswordResets } from '../people/store-password-resets.ts';
import { recoverLeases } from '../queue/leased-work.ts';
import { listRunning, raiseEpochs } from '../queue/store-epoch.ts';
import type { HookDeps } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { judgeToken } from '../tokens/policy.ts';
import { revokeToken } from '../tokens/revoke.ts';
import { listAllTokens } from '../tokens/store.ts';
import { listAllWorkspaces, pauseAllWorkspaces } from '../workspaces/store.ts';

/** Running entries that are read at a time. */
const STEP_ROWS = 500;
/** The actor of what the operator's command line does. */
const OPERATOR = 'operator';

export interface EpochOptions {
  /** The time of the backup, if it is known. */
  restoredAt: string | null;
  /** Whether tokens, sessions, links and logins stay valid. */
  keepsTokens: boolean;
}

/** The work and access that a new epoch has ended. */
export interface EpochReport {
  /** Attempts that ran at the time of the backup. */
  attempts: number;
  agents: number;
  /** The slugs of all workspaces; their queues are paused. */
  workspaces: string[];
  /** The tokens, sessions and links; null if they were kept. */
  access: EndedAccess | null;
}

interface EndedAccess {
  /** Tokens and integration secrets that were not revoked. */
  tokens: EndedToken[];
  /** The numbers of those that were live. */
  sessions: number;
  invitations: number;
  passwordResets: number;
  deviceLogins: number;
}

interface EndedToken {
  kind: 'device' | 'assistant' | 'service' | 'integration';
  workspaceSlug: string;
  /** The machine with its person, or the name of a program. */
  name: string;
  /** Whether it had not expired. */
  wasLive: boolean;
}

/**
 * Begins a new epoch of a restored database. What happened after its backup is unknown to it, but
 * has happened: attempts run on, and what was revoked would give access again. So every claim, job
 * token and agent of before is refused, access ends, and queues are paused, because jobs that were
 * done after the backup would be done again.
 */
export async function beginEpoch(
  deps: HookDeps & Pick<HubDeps, 'waiters'>,
  tx: Tx,
  { restoredAt, keepsTokens }: EpochOptions,
): Promise<EpochReport> {
  const asOf = restoredAt === null ? '' : ` as it was at ${restoredAt}`;
  const epoch = await writeNextEpoch(tx);
  await raiseEpochs(tx, epoch);
  await recordRestore(
    tx,
    `The hub was restored${asOf}. What happened to the job afterwards is lost: it may be done again.`,
  );
  const attempts = await endAttempts(deps, tx, `The hub was restored${asOf}.`);
  const agents = await disownAgents(tx, String(epoch));
  const workspaces = await listAllWorkspaces(tx);
  const slugs = new Map(workspaces.map(({ workspace_id, slug }) => [workspace_id, slug]));
  const access = keepsTokens ? null : await endAccess(tx, slugs);
  await pauseAllWorkspaces(
    tx,
    OPERATOR,
    `The hub was restored${asOf}. Jobs that were done afterwards are pending again: compare, ` +
      'cancel those, then resume.',
  );
  for (const { workspace_id: workspaceId } of workspaces) {
    const data = { restoredAt, keepsTokens };
    const entry = { workspaceId, actor: OPERATOR, action: 'hub.restore', subject: workspaceId };
    await appendAudit(tx, { ...entry, data });
  }
  return { attempts, agents, workspaces: [...slugs.values()], access };
}

/** Takes all running jobs from their agents. Returns how many. */
async function endAttempts(
  deps: Parameters<typeof recoverLeases>[0],
  tx: Tx,
  message: string,
): Promise<number> {
  let count = 0;
  for (;;) {
    const running = await listRunning(tx, STEP_ROWS);
    if (running.length === 0) return count;
    await recoverLeases(deps, tx, running, { message, data: {} });
    count += running.length;
  }
}

async function endAccess(tx: Tx, slugs: ReadonlyMap<string, string>): Promise<EndedAccess> {
  await endSignInLinks(tx);
  return {
    tokens: [...(await endTokens(tx, slugs)), ...(await endSecrets(tx, slugs))],
    sessions: await revokeAllSessions(tx, tx.nowMs - SESSION_IDLE_MS),
    invitations: await revokeAllInvitations(tx),
    passwordResets: await endAllPasswordResets(tx),
    deviceLogins: await deleteAllDevices(tx),
  };
}

async function endTokens(tx: Tx, slugs: ReadonlyMap<string, string>): Promise<EndedToken[]> {
  const tokens = await listAllTokens(tx);
  const people = await readPersonNames(
    tx,
    tokens.flatMap(({ person_id: personId }) => (personId === null ? [] : [personId])),
  );
  const ended: EndedToken[] = [];
  for (const token of tokens) {
    await revokeToken(tx, token, OPERATOR, 'restore');
    const person = token.person_id === null ? undefined : people.get(token.person_id);
    ended.push({
      kind: token.kind,
      workspaceSlug: slugs.get(token.workspace_id) ?? token.workspace_id,
      name: person === undefined ? token.name : `${person.name} on ${token.name}`,
      wasLive: judgeToken(token, tx.nowMs) === null,
    });
  }
  return ended;
}

async function endSecrets(tx: Tx, slugs: ReadonlyMap<string, string>): Promise<EndedToken[]> {
  const ended: EndedToken[] = [];
  for (const { workspace_id: workspaceId, secret_id, name } of await listAllIntegrationSecrets(
    tx,
  )) {
    await markIntegrationSecretRevoked(tx, workspaceId, secret_id);
    const workspaceSlug = slugs.get(workspaceId) ?? workspaceId;
    const entry = { workspaceId, actor: OPERATOR, action: 'integration-secret.revoke' };
    await appendAudit(tx, { ...entry, subject: secret_id, data: { cause: 'restore' } });
    ended.push({ kind: 'integration', workspaceSlug, name, wasLive: true });
  }
  return ended;
}

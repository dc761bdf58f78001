import {
  ChatTeamId,
  createIdSource,
  Email,
  type Scope,
  type Workspace,
  type WorkspaceRole,
} from '@signalbox/contract';
import { systemClock, timestampOf } from '../base/clock.ts';
import { compileLater } from '../base/compile-later.ts';
import { HubError, invalidField } from '../base/errors.ts';
import { findLinkAddress, type LinkAddress } from '../cluster/hub-address.ts';
import type { Database, Reader } from '../db/engine.ts';
import { migrateDatabase, openDatabase } from '../db/open-database.ts';
import { writeFound } from '../db/write-found.ts';
import { mapChatTeam } from '../integrations/chat-teams.ts';
import { createInvitation, invitationUrl } from '../members/invite.ts';
import { createPasswordReset, passwordResetUrl } from '../people/reset-password.ts';
import { listAccountScope } from '../people/write-account.ts';
import { mintServiceToken } from '../tokens/mint.ts';
import { createWorkspace } from '../workspaces/create.ts';
import { presentWorkspace } from '../workspaces/present.ts';
import { readWorkspaceBySlug } from '../workspaces/store.ts';
import type { Config } from './config.ts';
import { requireHubDatabase, requireHubDirectory } from './hub-place.ts';

/*
 * Commands of the operator, run from a shell while the hub runs or is stopped. Each opens the
 * database, makes one change and closes it. Everyone who can write the data directory may run them.
 * None founds a hub: without one they refuse, with the directory in which they looked.
 */

const ids = createIdSource(systemClock.nowMs);
const emailSchema = compileLater(Email);
const teamIdSchema = compileLater(ChatTeamId);

/** @throws HubError SLUG_TAKEN, INVALID_REQUEST; StartError */
export function createWorkspaceByAdmin(
  config: Config,
  draft: { slug: string; name: string },
): Promise<Workspace> {
  return withDatabase(config, async (database) => {
    const row = await database.write(draft.slug, (tx) => createWorkspace({ ids }, tx, draft));
    return presentWorkspace(row);
  });
}

export interface AdminToken {
  /** Shown once; the hub stores only its hash. */
  token: string;
  tokenId: string;
  workspaceId: string;
  workspaceSlug: string;
  scopes: readonly Scope[];
  expiresAt: string;
}

/** @throws HubError WORKSPACE_NOT_FOUND, INVALID_REQUEST; StartError */
export function mintTokenByAdmin(
  config: Config,
  draft: { workspaceSlug: string; name: string; scopes?: Scope[]; expiresInMs?: number },
): Promise<AdminToken> {
  const { workspaceSlug, ...rest } = draft;
  return withDatabase(config, async (database) => {
    const workspaceId = await findWorkspaceId(database.reader, workspaceSlug);
    const minted = await database.write(workspaceId, (tx) =>
      mintServiceToken({ ids }, tx, { ...rest, workspaceId, createdBy: 'operator' }),
    );
    return {
      token: minted.token,
      tokenId: minted.tokenId,
      workspaceId,
      workspaceSlug,
      scopes: minted.scopes,
      expiresAt: timestampOf(minted.expiresAtMs),
    };
  });
}

export interface AdminInvitation {
  /** Shown once, for the operator to send. Valid for one use within 7 days. */
  invitationUrl: string;
  invitationId: string;
  workspaceId: string;
  workspaceSlug: string;
  email: string;
  role: WorkspaceRole;
  expiresAt: string;
  /** The address that the link leads to, and where it comes from. */
  address: LinkAddress;
}

/**
 * Invites a person to a workspace; also works for the first person. The link leads to SVC_BASE_URL
 * if that is set, else to the hub that runs on the data directory, else to SVC_HOST and SVC_PORT.
 *
 * @throws HubError WORKSPACE_NOT_FOUND, INVALID_REQUEST, ALREADY_MEMBER; StartError
 */
export function inviteMemberByAdmin(
  config: Config,
  draft: { workspaceSlug: string; email: string; role: WorkspaceRole },
): Promise<AdminInvitation> {
  const { workspaceSlug, email, role } = draft;
  if (!emailSchema().Check(email)) throw invalidField('/email', 'must be an e-mail address');
  return withDatabase(config, async (database, directoryPath) => {
    const address = await findLinkAddress(config, directoryPath, database.reader);
    const workspaceId = await findWorkspaceId(database.reader, workspaceSlug);
    const { invitation, linkToken } = await database.write(workspaceId, (tx) =>
      createInvitation({ ids }, tx, { workspaceId, email, role, createdBy: 'operator' }),
    );
    return {
      invitationUrl: invitationUrl(address.baseUrl, linkToken),
      invitationId: invitation.invitation_id,
      workspaceId,
      workspaceSlug,
      email: invitation.email,
      role,
      expiresAt: timestampOf(invitation.expires_at),
      address,
    };
  });
}

export interface AdminPasswordReset {
  /** Shown once, for the operator to send; works once, for 24 hours. */
  resetUrl: string;
  personId: string;
  email: string;
  name: string;
  expiresAt: string;
  /** The address that the link leads to, and where it comes from. */
  address: LinkAddress;
}

/**
 * Creates a link with which a person sets a new password. It replaces their open link.
 *
 * @param workspaceSlug says which account is meant when several have the address.
 * @returns null if no person has the address.
 * @throws HubError INVALID_REQUEST; StartError
 */
export function resetPasswordByAdmin(
  config: Config,
  email: string,
  workspaceSlug?: string,
): Promise<AdminPasswordReset | null> {
  if (!emailSchema().Check(email)) throw invalidField('/email', 'must be an e-mail address');
  return withDatabase(config, async (database, directoryPath) => {
    const address = await findLinkAddress(config, directoryPath, database.reader);
    const workspaceId =
      workspaceSlug === undefined
        ? undefined
        : await findWorkspaceId(database.reader, workspaceSlug);
    const created = await writeFound(
      database,
      (reader) => listAccountScope(reader, email),
      (tx) => createPasswordReset(tx, { email, workspaceId, createdBy: 'operator' }),
    );
    if (created === null) return null;
    const { person, linkToken, expiresAtMs } = created;
    return {
      resetUrl: passwordResetUrl(address.baseUrl, linkToken),
      personId: person.person_id,
      email: person.email,
      name: person.name,
      expiresAt: timestampOf(expiresAtMs),
      address,
    };
  });
}

export interface AdminChatTeam {
  workspaceId: string;
  workspaceSlug: string;
  teamId: string;
  name: string;
}

/**
 * Sends the messages of a chat team to a workspace, without the proof that the console asks for.
 * @throws HubError WORKSPACE_NOT_FOUND; INVALID_REQUEST, also for a team of another workspace;
 *   StartError
 */
export function addChatTeamByAdmin(
  config: Config,
  { workspaceSlug, teamId, name }: { workspaceSlug: string; teamId: string; name: string },
): Promise<AdminChatTeam> {
  if (!teamIdSchema().Check(teamId)) {
    throw invalidField(
      '/teamId',
      'must be 1 to 100 upper-case letters and digits, as in T024BE7LD',
    );
  }
  return withDatabase(config, async (database) => {
    const workspaceId = await findWorkspaceId(database.reader, workspaceSlug);
    await database.write(workspaceId, (tx) => mapChatTeam(tx, { workspaceId, teamId, name }));
    return { workspaceId, workspaceSlug, teamId, name };
  });
}

async function findWorkspaceId(reader: Reader, workspaceSlug: string): Promise<string> {
  const workspace = await readWorkspaceBySlug(reader, workspaceSlug);
  if (workspace !== undefined) return workspace.workspace_id;
  throw new HubError('WORKSPACE_NOT_FOUND', `There is no workspace "${workspaceSlug}".`);
}

/** Opens the database of a hub for one act. @throws HubMissingError, StartError */
export async function withDatabase<T>(
  config: Config,
  act: (database: Database, directoryPath: string) => Promise<T>,
) {
  const { path, databasePath } = requireHubDirectory(config);
  const database = await openDatabase(config, databasePath, systemClock);
  try {
    await requireHubDatabase(database, config);
    await migrateDatabase(config, database);
    return await act(database, path);
  } finally {
    await database.close();
  }
}

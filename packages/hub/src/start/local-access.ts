import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createIdSource } from '@signalbox/contract';
import { allScopes } from '../access/policy.ts';
import { listMembershipsOfPerson, readFirstOwnership } from '../access/store.ts';
import { appendAudit } from '../audit/append.ts';
import { systemClock } from '../base/clock.ts';
import { assert, HubError } from '../base/errors.ts';
import { findRunningAddress, readHubAddress } from '../cluster/hub-address.ts';
import { isDataDirectoryLocked } from '../db/data-directory.ts';
import type { Database, Tx } from '../db/engine.ts';
import {
  FIRST_OWNER_SCOPE,
  insertFirstOwner,
  type OwnerDraft,
} from '../people/create-first-owner.ts';
import { noPasswordHash } from '../people/passwords.ts';
import { createSignInLink, SIGN_IN_LINKS_SCOPE, signInLinkUrl } from '../people/sign-in-link.ts';
import { foldEmail, hasPeople, type PersonRow, readPerson } from '../people/store.ts';
import { DEVICE_TOKEN_MS } from '../tokens/policy.ts';
import { drawToken, hashToken, insertToken } from '../tokens/store.ts';
import { readWorkspace, type WorkspaceRow } from '../workspaces/store.ts';
import { withDatabase } from './admin.ts';
import type { Config } from './config.ts';
import { HubMissingError } from './hub-place.ts';

/*
 * The access of `signalbox up` to the hub of this machine: an owner, a login and a link, without a
 * form. Like the commands of the operator, it has direct access to the database.
 */

const ids = createIdSource(systemClock.nowMs);
/** The actor of what the operator's command line does. */
const OPERATOR = 'operator';
/** How long a hub that another process starts may take until it listens. */
const START_MS_MAX = 60_000;
const START_POLL_MS = 100;

/**
 * Finds the hub that runs on the data directory, and waits for one that starts.
 *
 * @returns the address at which people reach it; null: none runs.
 */
export async function findRunningHub(config: Config): Promise<string | null> {
  if (config.databaseUrl !== null) return findRunningOnPostgres(config);
  const path = resolve(config.dataDir);
  const endMs = performance.now() + START_MS_MAX;
  while (isDataDirectoryLocked(path)) {
    const note = readHubAddress(path);
    if (note !== null) return note.baseUrl;
    if (performance.now() > endMs) return null;
    await wait(START_POLL_MS);
  }
  return null;
}

async function findRunningOnPostgres(config: Config): Promise<string | null> {
  try {
    return await withDatabase(config, (database, path) =>
      findRunningAddress(path, database.reader),
    );
  } catch (error) {
    if (error instanceof HubMissingError) return null;
    throw error;
  }
}

export interface LocalAccess {
  person: Pick<PersonRow, 'email' | 'name'>;
  workspaceId: string;
  workspaceSlug: string;
  /** Whether this call has created the person and the workspace. */
  isNew: boolean;
  /** Signs the person in at the console, once, for an hour. */
  signInUrl: string;
  /** Of this machine, shown once; null: the machine had a login. */
  token: string | null;
}

export interface LocalAccessDraft {
  /** The address of the hub, for the link. */
  baseUrl: string;
  /** The first owner and their workspace, if the hub has no people yet. They get no password. */
  owner: OwnerDraft;
  /** For the token of this machine. */
  machineName: string;
  /** The person and workspace of a login of this machine; null: it gets one, of the first owner. */
  login: { personId: string; workspaceId: string } | null;
}

/**
 * Lets the person at this machine use its hub: creates the first owner of a hub without people, a
 * link that signs in, and a token for the machine.
 *
 * @throws HubError SLUG_TAKEN; WORKSPACE_NOT_FOUND if the people of the hub own no workspace;
 *   StartError, HubMissingError
 */
export function openLocalAccess(config: Config, draft: LocalAccessDraft): Promise<LocalAccess> {
  return withDatabase(config, async (database) => {
    const isNew = await ensureFirstOwner(database, draft.owner);
    const found = draft.login ?? (await findFirstOwner(database));
    const memberships = await listMembershipsOfPerson(database.reader, found.personId);
    const scope = [found.personId, ...memberships.map(({ workspace_id }) => workspace_id)];
    return database.write([SIGN_IN_LINKS_SCOPE, ...scope], async (tx) => {
      const { person, workspace } = await readPlace(tx, found);
      const linkToken = await createSignInLink(tx, {
        personId: person.person_id,
        createdBy: OPERATOR,
      });
      return {
        person: { email: person.email, name: person.name },
        workspaceId: workspace.workspace_id,
        workspaceSlug: workspace.slug,
        isNew,
        signInUrl: signInLinkUrl(draft.baseUrl, linkToken),
        token: draft.login === null ? await logMachineIn(tx, found, draft.machineName) : null,
      };
    });
  });
}

/** Returns whether it has created the first owner. */
function ensureFirstOwner(database: Database, owner: OwnerDraft): Promise<boolean> {
  const scope = [FIRST_OWNER_SCOPE, owner.workspaceSlug, foldEmail(owner.email)];
  return database.write(scope, async (tx) => {
    if (await hasPeople(tx)) return false;
    const draft = { ...owner, passwordHash: noPasswordHash };
    const { person, workspace } = await insertFirstOwner({ ids }, tx, draft);
    await appendAudit(tx, {
      workspaceId: workspace.workspace_id,
      actor: OPERATOR,
      action: 'first-owner.create',
      subject: person.person_id,
      data: { workspaceSlug: workspace.slug },
    });
    return true;
  });
}

interface Place {
  personId: string;
  workspaceId: string;
}

async function findFirstOwner({ reader }: Database): Promise<Place> {
  const found = await readFirstOwnership(reader);
  if (found === undefined) {
    throw new HubError('WORKSPACE_NOT_FOUND', 'This hub has people, and none owns a workspace.');
  }
  return { personId: found.person_id, workspaceId: found.workspace_id };
}

async function readPlace(
  tx: Tx,
  { personId, workspaceId }: Place,
): Promise<{ person: PersonRow; workspace: WorkspaceRow }> {
  const person = await readPerson(tx, personId);
  const workspace = await readWorkspace(tx, workspaceId);
  assert(person !== undefined && workspace !== undefined, 'neither is ever deleted');
  return { person, workspace };
}

/** Does what a person's approval of a device login does. Returns the token. */
async function logMachineIn(tx: Tx, { personId, workspaceId }: Place, name: string) {
  const token = drawToken('device');
  const tokenId = ids('token');
  await insertToken(tx, {
    workspaceId,
    tokenId,
    tokenHash: hashToken(token),
    kind: 'device',
    principalId: personId,
    personId,
    name,
    scopes: allScopes,
    expiresAtMs: tx.nowMs + DEVICE_TOKEN_MS,
    createdBy: personId,
  });
  const entry = { workspaceId, actor: OPERATOR, action: 'token.mint', subject: tokenId };
  await appendAudit(tx, { ...entry, data: { kind: 'device', name } });
  return token;
}

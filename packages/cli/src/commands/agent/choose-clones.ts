import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CliError } from '../../cli-error.ts';
import { stateDirectory } from '../../config-file.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { HubSession } from '../../hub-session.ts';
import type { Io } from '../../io.ts';
import { type LinkedClone, readLinkedClones } from '../../linked-clones.ts';
import { readClone } from './read-clone.ts';

/**
 * Selects the clones that an agent works on: all linked to the workspace, or those that are named.
 * @throws {CliError} REPO_NOT_LINKED, NOT_A_CLONE.
 */
export async function chooseClones(
  io: Io,
  { baseUrl, workspaceId }: HubSession,
  names: readonly string[],
): Promise<LinkedClone[]> {
  const linked = await readLinkedClones(io.env, { url: baseUrl, workspaceId });
  const chosen = names.length === 0 ? linked : await pickClones(linked, names, io.env);
  const present = chosen.filter(({ path }) => existsSync(path));
  for (const { label, path } of chosen) {
    if (!existsSync(path)) io.note(`Skipping ${label}: its clone ${path} does not exist.`);
  }
  if (present.length > 0) return present;
  throw new CliError(
    exitCodes.usage,
    'REPO_NOT_LINKED',
    'No clone on this machine is linked to the workspace.',
    { fix: 'In a clone: signalbox repo link' },
  );
}

async function pickClones(
  linked: readonly LinkedClone[],
  names: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<LinkedClone[]> {
  const picked = new Set<LinkedClone>();
  for (const name of names) {
    const byId = linked.find(({ repoId }) => repoId === name);
    const path = byId === undefined ? (await readClone(resolve(name), env)).path : byId.path;
    const clone = linked.find((known) => known.path === path);
    if (clone === undefined) {
      const message = `${name} is not linked to the workspace.`;
      throw new CliError(exitCodes.usage, 'REPO_NOT_LINKED', message, {
        fix: `signalbox repo link ${name}`,
      });
    }
    picked.add(clone);
  }
  return [...picked];
}

/** The default state directory: one per hub and workspace, unless `--state-dir` is given. */
export function agentStateDir(env: NodeJS.ProcessEnv, session: HubSession): string {
  const { baseUrl, workspaceId, workspaceSlug } = session;
  const place = hash('sha256', `${baseUrl} ${workspaceId}`).slice(0, 12);
  return join(stateDirectory(env), 'agents', `${workspaceSlug ?? 'workspace'}-${place}`);
}

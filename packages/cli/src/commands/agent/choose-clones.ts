import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CliError } from '../../cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';
import { findRepository } from '../../find/repository-reference.ts';
import { stateDirectory } from '../../hub/config-file.ts';
import type { HubSession } from '../../hub/hub-session.ts';
import { type LinkedClone, readLinkedClones } from '../../hub/linked-clones.ts';
import type { Io } from '../../terminal/io.ts';
import type { AgentPlan, RepositoryPlan } from './config/agent-plan.ts';
import { readClone } from './read-clone.ts';

/** A clone that an agent works on, and what is in force for it. */
export interface ChosenClone {
  clone: LinkedClone;
  plan: RepositoryPlan;
}

/**
 * Selects the clones that an agent works on: those of `--repo`, else those of the configuration
 * file, else all linked to the workspace.
 * @throws {CliError} REPO_NOT_LINKED, NOT_A_CLONE, CONFIG_INVALID.
 */
export async function chooseClones(
  io: Io,
  session: HubSession,
  plan: AgentPlan,
  names: readonly string[],
): Promise<ChosenClone[]> {
  const { baseUrl, workspaceId } = session;
  const linked = await readLinkedClones(io.env, { url: baseUrl, workspaceId });
  const find = (name: string) => findClone(io, session, linked, name);
  const configured = await findConfigured(find, plan);
  const named = configured.size > 0 ? [...configured.keys()] : linked;
  const chosen = names.length === 0 ? named : await pickClones(find, names);
  const present = chosen
    .filter(({ path }) => existsSync(path))
    .map((clone) => ({ clone, plan: configured.get(clone) ?? plan.general }));
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

/** The clones that the configuration file names, with their settings. */
async function findConfigured(
  find: FindClone,
  { repositories }: AgentPlan,
): Promise<ReadonlyMap<LinkedClone, RepositoryPlan>> {
  const found = new Map<LinkedClone, RepositoryPlan>();
  for (const { reference, plan } of repositories ?? []) {
    try {
      const clone = await find(reference.value);
      if (found.has(clone)) {
        const message = `${clone.path} is named twice. Keep one.`;
        throw new CliError(exitCodes.usage, 'CONFIG_INVALID', message);
      }
      found.set(clone, plan);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      const message = `${reference.from}: ${error.message}`;
      const { exitCode, code, fix } = error;
      const hint = fix === null ? {} : { fix };
      throw new CliError(exitCode, code, message, { ...hint, cause: error });
    }
  }
  return found;
}

async function pickClones(find: FindClone, names: readonly string[]): Promise<LinkedClone[]> {
  const picked = new Set<LinkedClone>();
  for (const name of names) picked.add(await find(name));
  return [...picked];
}

type FindClone = (name: string) => Promise<LinkedClone>;

/** A path is the repository that it is for `enqueue --repo`: that of its origin, as of now. */
async function findClone(
  io: Io,
  session: HubSession,
  linked: readonly LinkedClone[],
  name: string,
): Promise<LinkedClone> {
  const byId = linked.find(({ repoId }) => repoId === name);
  if (byId !== undefined) return byId;
  const { path } = await readClone(resolve(name), io.env);
  const isLinked = linked.some((known) => known.path === path);
  const repoId = isLinked ? await findRepository(io, session, name) : null;
  const clone = linked.find((known) => known.path === path && known.repoId === repoId);
  if (clone !== undefined) return clone;
  const message = isLinked
    ? `${name} was linked as another repository: its origin has changed.`
    : `${name} is not linked to the workspace.`;
  throw new CliError(exitCodes.usage, 'REPO_NOT_LINKED', message, {
    fix: `signalbox repo link ${name}`,
  });
}

/** The state directory of an agent that `signalbox up` has started for one clone. */
export function cloneStateDir(shared: string, path: string): string {
  return `${shared}-${hash('sha256', path).slice(0, 12)}`;
}

/** The default state directory: one per hub and workspace, unless the file has `state-dir`. */
export function agentStateDir(
  env: NodeJS.ProcessEnv,
  session: Pick<HubSession, 'baseUrl' | 'workspaceId' | 'workspaceSlug'>,
): string {
  const { baseUrl, workspaceId, workspaceSlug } = session;
  const place = hash('sha256', `${baseUrl} ${workspaceId}`).slice(0, 12);
  return join(stateDirectory(env), 'agents', `${workspaceSlug ?? 'workspace'}-${place}`);
}

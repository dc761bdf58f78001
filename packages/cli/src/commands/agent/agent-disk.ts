import { existsSync } from 'node:fs';
import { CACHES_MAX, type KeptFiles, listKeptFiles, readKeptMax } from '@signalbox/agent';
import { CliError } from '../../cli-error.ts';
import type { HubSession } from '../../hub/hub-session.ts';
import type { Io } from '../../terminal/io.ts';
import { oneLine } from '../../terminal/text.ts';
import type { Clone } from '../../work/clone-git.ts';
import { agentStateDir, cloneStateDir } from './choose-clones.ts';
import { planAgent } from './config/agent-plan.ts';

/** The files of agents on this machine, and how many they keep. */
export interface AgentDisk {
  files: readonly KeptFiles[];
  /** The most warm worktrees of a repository; null: no agent says. */
  warmWorktreesMax: number | null;
  /** The most folders of a set-up, of a repository. */
  setupsMax: number;
}

/**
 * Reads the files of the agents that may work on a clone.
 *
 * @param given a state directory to read in place of theirs.
 */
export async function readAgentDisk(
  io: Io,
  session: HubSession | null,
  clone: Clone,
  given?: string,
): Promise<AgentDisk> {
  const files: KeptFiles[] = [];
  const limits: number[] = [];
  for (const stateDir of given === undefined ? await findStateDirs(io, session, clone) : [given]) {
    if (!existsSync(stateDir)) continue;
    files.push(...(await listKeptFiles(stateDir)));
    limits.push((await readKeptMax(stateDir)) ?? 0);
  }
  const warmWorktreesMax = limits.length === 0 ? null : Math.max(...limits);
  return { files, warmWorktreesMax, setupsMax: CACHES_MAX };
}

/** Those of the configuration file, of the workspace, and of an agent of this clone alone. */
async function findStateDirs(io: Io, session: HubSession | null, clone: Clone): Promise<string[]> {
  const shared = session === null ? [] : [agentStateDir(io.env, session)];
  const ofClone = shared.map((path) => cloneStateDir(path, clone.path));
  try {
    const { stateDir } = await planAgent({}, io.env);
    const configured = stateDir === undefined ? [] : [stateDir.value];
    return [...new Set([...configured, ...shared, ...ofClone])];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    io.note(`A state-dir of the agent's configuration is unknown: ${oneLine(error.message)}`);
    return [...shared, ...ofClone];
  }
}

export function totalBytesOf(files: readonly KeptFiles[]): number {
  return files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

/** The documents for programs: worktrees, and folders of a set-up. */
export function filesJson(files: readonly KeptFiles[]) {
  return {
    worktrees: files
      .filter(({ kind }) => kind !== 'setup')
      .map(({ kind, path, jobId, sizeBytes }) => ({ kind, path, jobId, sizeBytes })),
    setups: files
      .filter(({ kind }) => kind === 'setup')
      .map(({ path, sizeBytes }) => ({ path, sizeBytes })),
    totalBytes: totalBytesOf(files),
  };
}

export function formatSize(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

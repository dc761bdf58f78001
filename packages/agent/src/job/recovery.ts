import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { branchOf, removeWorktree } from '../git/git-worktree.ts';
import { pruneWarm } from '../git/warm-worktrees.ts';
import type { Outbox } from '../loops/outbox.ts';
import { renameIfThere } from '../missing-file.ts';
import { findProcess } from '../process/process-list.ts';
import { stopTree } from '../process/process-tree.ts';
import { removeToolTree } from '../process/tool-file.ts';
import { pruneCaches } from '../setup/setup-cache.ts';
import { jobDirectory, readJsonFile, type StateDirectory } from '../state-directory.ts';
import type { Attempt } from './attempt.ts';
import type { ProcessRecord } from './process-record.ts';
import { pruneSessions } from './tool-session.ts';

/**
 * Cleans up after an agent that was killed: ends its processes and removes its worktrees. An
 * unfinished attempt is not resumed, because nothing has renewed its lease; the hub is to offer the
 * job again. Call it while holding the lock of the state directory.
 *
 * @param heldBefore the attempts that the agent held.
 * @returns those without a result; the hub may still have their leases.
 */
export async function recoverState(
  state: StateDirectory,
  outbox: Outbox,
  heldBefore: readonly Attempt[],
  killGraceMs: number,
  clock: Clock,
): Promise<Attempt[]> {
  const waiting = new Set((await outbox.list()).map((entry) => entry.attempt.key));
  const mirrors = (await readdir(state.mirrors)).map((name) => ({
    gitDir: join(state.mirrors, name),
    clonePath: '',
  }));
  await pruneSessions(state, clock.nowMs());
  await pruneWarm(state, clock.nowMs());
  await pruneCaches(state, clock.nowMs());
  for (const key of await readdir(state.jobs)) {
    const directory = jobDirectory(state, key);
    // Only `recordProcess` writes this file.
    const record = (await readJsonFile(directory.processFile)) as ProcessRecord | null;
    if (record !== null) await stopProcesses(record, killGraceMs, clock);
    if (mirrors.length === 0) await removeToolTree(directory.worktree);
    for (const mirror of mirrors) {
      await removeWorktree(mirror, directory.worktree, branchOf(key));
    }
    if (waiting.has(key)) continue;
    if (record?.reportTo !== undefined) {
      // A tool that continues its session does not say again what it has noted.
      await renameIfThere(directory.reportFile, record.reportTo);
    }
    await removeToolTree(directory.path);
  }
  return heldBefore.filter(({ key }) => !waiting.has(key));
}

/** Ends recorded processes. The session ID is used only if its leader is the recorded process. */
async function stopProcesses(
  record: ProcessRecord,
  killGraceMs: number,
  clock: Clock,
): Promise<void> {
  const leader = record.pid === null ? null : await findProcess(record.pid);
  const isSame = leader !== null && leader.startedAt === record.startedAt;
  const sessionId = isSame ? leader.pid : null;
  const { mark, worktree } = record;
  await stopTree({ sessionId, mark, directories: [worktree] }, killGraceMs, clock);
}

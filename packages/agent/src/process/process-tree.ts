import { realpath } from 'node:fs/promises';
import type { Clock } from '../clock.ts';
import { unlessMissing } from '../missing-file.ts';
import {
  hasVariable,
  isReaper,
  listProcesses,
  type ProcessRow,
  readWorkingDirectory,
} from './process-list.ts';

/** The variable that marks every process of an attempt, even in another session or group. */
export const MARK_VARIABLE = 'SIGNALBOX_JOB_MARK';

/** Processes started by one command. */
export interface ProcessTree {
  /** The pid of the command, which leads its own session and group. Null: unknown. */
  sessionId: number | null;
  /** Value of `MARK_VARIABLE`. */
  mark: string;
  /** The job's worktree, and other directories that are its own. */
  directories: readonly string[];
}

const POLL_MS = 50;
/** SIGKILL cannot be ignored, but the kernel may need time (a process waiting for a disk). */
const KILL_WAIT_MS = 5_000;

/**
 * Lists the live processes of a tree: those in the session, those with the mark, their children,
 * and those that were left behind in the job's directory. A process that has cleared its
 * environment, left its session, its parent and the directory is not found.
 */
async function listTree(tree: ProcessTree): Promise<ProcessRow[]> {
  const rows = (await listProcesses()).filter(({ pid }) => pid !== process.pid);
  const directories = await Promise.all(tree.directories.map(resolveLinks));
  const found = await Promise.all(rows.map((row) => isOfTree({ ...tree, directories }, row)));
  const pids = new Set(rows.filter((_, index) => found[index]).map(({ pid }) => pid));
  // A child may be listed before its parent, so this looks until it finds no more.
  for (let before = -1; before !== pids.size; ) {
    before = pids.size;
    for (const { pid, parentId } of rows) if (pids.has(parentId)) pids.add(pid);
  }
  return rows.filter(({ pid }) => pids.has(pid));
}

/** The directories of processes are told without links. */
async function resolveLinks(directory: string): Promise<string> {
  // It may be made later, or have been removed.
  return (await unlessMissing(realpath(directory))) ?? directory;
}

async function isOfTree(tree: ProcessTree, row: ProcessRow): Promise<boolean> {
  if (row.sessionId === tree.sessionId || row.groupId === tree.sessionId) return true;
  if (await hasVariable(row.pid, MARK_VARIABLE, tree.mark)) return true;
  return await isLeftBehind(tree, row);
}

/**
 * Whether a process works in the job's directory although nothing that lives has started it. A
 * person may look at the worktree: their shell has a terminal, and what their editor starts has a
 * parent.
 */
async function isLeftBehind({ directories }: ProcessTree, row: ProcessRow): Promise<boolean> {
  if (row.hasTerminal || !(await isReaper(row.parentId))) return false;
  const path = await readWorkingDirectory(row.pid);
  return path !== null && directories.some((each) => `${path}/`.startsWith(`${each}/`));
}

/**
 * Ends a tree: SIGTERM to each process, SIGKILL to those left after `graceMs`. Returns the
 * processes that are still alive; normally none.
 */
export async function stopTree(
  tree: ProcessTree,
  graceMs: number,
  clock: Clock,
): Promise<ProcessRow[]> {
  let left = await listTree(tree);
  sendSignal(tree, left, 'SIGTERM');
  left = await waitForEnd(tree, graceMs, clock, null);
  if (left.length === 0) return left;
  // Send SIGKILL again at every poll, in case the tree forks while it is being killed.
  return await waitForEnd(tree, KILL_WAIT_MS, clock, 'SIGKILL');
}

async function waitForEnd(
  tree: ProcessTree,
  waitMs: number,
  clock: Clock,
  signal: NodeJS.Signals | null,
): Promise<ProcessRow[]> {
  const deadlineMs = clock.monotonicMs() + waitMs;
  for (;;) {
    const left = await listTree(tree);
    if (left.length === 0 || clock.monotonicMs() >= deadlineMs) return left;
    if (signal !== null) sendSignal(tree, left, signal);
    await clock.sleep(POLL_MS);
  }
}

/** Signals each process once: some tools treat a second SIGTERM as an order to exit uncleanly. */
function sendSignal(tree: ProcessTree, rows: readonly ProcessRow[], signal: NodeJS.Signals): void {
  const inGroup = rows.filter((row) => row.groupId === tree.sessionId);
  // Signalling the group also reaches processes forked after the listing.
  if (inGroup.length > 0 && tree.sessionId !== null) sendTo(-tree.sessionId, signal);
  for (const row of rows) if (!inGroup.includes(row)) sendTo(row.pid, signal);
}

function sendTo(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch (error) {
    // The process has ended or changed its owner (setuid); it cannot be signalled.
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!['ESRCH', 'EPERM'].includes(code)) throw error;
  }
}

import type { Clock } from '../clock.ts';
import { hasVariable, listProcesses, type ProcessRow } from './process-list.ts';

/** The variable that marks every process of one attempt, wherever it has moved itself. */
export const MARK_VARIABLE = 'SIGNALBOX_JOB_MARK';

/** Processes that were started by one command. */
export interface ProcessTree {
  /** The command is the leader of its own session and group; this is its pid. Null: not known. */
  sessionId: number | null;
  /** Value of `MARK_VARIABLE`. */
  mark: string;
}

const POLL_MS = 50;
/** SIGKILL cannot be refused, but it can take the kernel a while (a process in a disk wait). */
const KILL_WAIT_MS = 5_000;

/** The live processes of a tree: those of the session, and those that carry the mark. */
export async function listTree(tree: ProcessTree): Promise<ProcessRow[]> {
  const rows = await listProcesses();
  const found = await Promise.all(
    rows.map(async (row) => {
      if (row.pid === process.pid) return false;
      if (row.sessionId === tree.sessionId || row.groupId === tree.sessionId) return true;
      return await hasVariable(row.pid, MARK_VARIABLE, tree.mark);
    }),
  );
  return rows.filter((_, index) => found[index]);
}

/**
 * Ends a tree: SIGTERM to every process of it, SIGKILL to what is left after `graceMs`. Returns
 * the processes that are still alive at the end, which should be none.
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
  // A tree that forks while it is being killed is killed again at every look.
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

/** Once to each process: some tools take a second SIGTERM for impatience and leave a mess. */
function sendSignal(tree: ProcessTree, rows: readonly ProcessRow[], signal: NodeJS.Signals): void {
  const inGroup = rows.filter((row) => row.groupId === tree.sessionId);
  // Through the group a signal also reaches a process that was forked after the listing.
  if (inGroup.length > 0 && tree.sessionId !== null) sendTo(-tree.sessionId, signal);
  for (const row of rows) if (!inGroup.includes(row)) sendTo(row.pid, signal);
}

function sendTo(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch (error) {
    // Ended meanwhile, or changed its owner (setuid): neither can be signalled.
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!['ESRCH', 'EPERM'].includes(code)) throw error;
  }
}

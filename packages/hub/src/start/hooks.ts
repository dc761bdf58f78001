import type { Attachment, CommentFate, IdSource } from '@signalbox/contract';
import type { ContextItemRow } from '../context/store.ts';
import type { Reader, Tx } from '../db/engine.ts';
import type { QueueName } from '../db/schema/queue.ts';
import type { JobRecord } from '../jobs/require-job.ts';
import type { LostLease, Queue } from '../queue/queue.ts';
import type { DecisionWaiters } from '../uncertainties/decision-waiters.ts';
import type { UncertaintyRow } from '../uncertainties/store.ts';

/*
 * Consequences in one module of a change in another that must not import it. Value imports
 * between modules form a directed acyclic graph; a need against its direction is a hook, named here
 * and filled in `app.ts`. What follows from a resolution is no hook: `uncertainties/` may call
 * `runs/` and `jobs/` itself.
 *
 * Every hook runs in the transaction of the change, after the change is written and before the
 * operation answers. The functions of one hook run in the order in which `app.ts` lists them, each
 * after the one before has ended. A function may read, write and call `afterCommit`; it awaits
 * nothing but its own statements. What it throws rolls the whole operation back, so it throws only
 * what the caller of that operation should see.
 */

/** The part of `HubDeps` that every caller of a hook has. */
export interface HookDeps {
  ids: IdSource;
  queue: Queue;
  decisionWaiters: DecisionWaiters;
  hooks: Hooks;
}

export interface JobKey {
  workspaceId: string;
  jobId: string;
}

type Hook<Input> = (deps: HookDeps, tx: Tx, input: Input) => Promise<unknown>;

export interface Hooks {
  /**
   * A person has set a new password with a link. Everything that gives access on their behalf is
   * revoked, since somebody else may have used the account. Throws nothing of its own.
   */
  onPasswordReset: readonly Hook<{ personId: string }>[];
  /**
   * Revokes the device tokens of a person in all workspaces, after a change of their password.
   * Throws nothing of its own. Returns how many were revoked.
   */
  logOutMachines: (deps: HookDeps, tx: Tx, input: { personId: string }) => Promise<number>;
  /**
   * Keeps uploads for a new job, as long as the job lives, and describes them in the same order.
   * Throws INVALID_REQUEST unless all are completed uploads of the workspace.
   */
  attachUploads: (tx: Tx, job: JobKey, uploadIds: readonly string[]) => Promise<Attachment[]>;
  /**
   * Sends drafts of review comments with a new round. Throws COMMENT_NOT_FOUND, INVALID_REQUEST and
   * LIMIT_REACHED.
   */
  sendComments: (
    tx: Tx,
    round: JobKey & { workJobId: string },
    commentIds: readonly string[],
  ) => Promise<void>;
  /** Counts the threads of review comments of a work that are not resolved. Throws nothing. */
  countOpenThreads: (reader: Reader, workspaceId: string, workJobId: string) => Promise<number>;
  /**
   * The agent of a job that has ended tells where the lines of review comments are now. The job
   * has its outcome. Throws nothing of its own.
   */
  keepFates: (tx: Tx, job: JobRecord, fates: readonly CommentFate[]) => Promise<void>;
  /** A context item was added, or replaced by another text. Throws nothing of its own. */
  onItemAdded: readonly Hook<ContextItemRow>[];
  /** A job was enqueued. Throws nothing of its own. */
  onJobEnqueued: readonly Hook<JobRecord>[];
  /**
   * A lease was taken back because it expired, or for the reason that comes with it. The entry is
   * pending, failed or canceled now. The module of the queue writes that into its own rows. The
   * transaction is exclusive.
   */
  onLeaseLost: Readonly<Record<QueueName, Hook<LostLease>>>;
  /**
   * The decisions of a job were delivered to its holder, by a claim or by a read with its job
   * token. The module that resolved them records that the job knows them.
   */
  onDecisionsDelivered: readonly Hook<JobKey>[];
  /**
   * The completion of a job was accepted and its outcome is written. What follows may move the job
   * on, and returns the job as it is then. The transaction is exclusive if the job has decisions.
   */
  onJobCompleted: readonly JobCompletedHook[];
  /**
   * A job has ended in another way: it was canceled, its last attempt lost the lease, or retention
   * deletes it. Throws nothing of its own.
   */
  onJobEnded: readonly Hook<JobKey>[];
  /** A person is no member of a workspace any more. Throws nothing of its own. */
  onMemberLeft: readonly Hook<{ workspaceId: string; personId: string }>[];
  /** An uncertainty became a decision request. Throws nothing of its own. */
  onDecisionRequested: readonly Hook<UncertaintyRow>[];
  /**
   * An uncertainty was resolved, by a person, a deadline or the end of its job. Throws nothing of
   * its own.
   */
  onDecisionResolved: readonly Hook<UncertaintyRow>[];
  /** The resolution of an uncertainty was withdrawn. Throws nothing of its own. */
  onDecisionReopened: readonly Hook<UncertaintyRow>[];
}

/**
 * Called when the job is read, behind the lock of its entry, and only reads: its statements leave
 * in the same round trip. What it returns runs when the completion is accepted, as other hooks do.
 */
type JobCompletedHook = (deps: HookDeps, tx: Tx, job: JobKey) => Promise<AfterCompletion>;

/** @param agentId the agent that completed the job. */
export type AfterCompletion = (job: JobRecord, agentId: string) => Promise<JobRecord>;

/** Runs the functions of a hook in their order. */
export async function runHooks<Input>(
  hooks: readonly Hook<Input>[],
  deps: HookDeps,
  tx: Tx,
  input: Input,
): Promise<void> {
  for (const hook of hooks) await hook(deps, tx, input);
}

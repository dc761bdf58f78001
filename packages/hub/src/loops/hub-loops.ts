import { AGENTS_MAX, endLeasesOfEndedTokens } from '../agents/end-leases.ts';
import { retireEndedJobs, type ScanPlaces } from '../archive/retire-jobs.ts';
import type { HintReceiver } from '../cluster/hint-receiver.ts';
import { NO_WORKSPACE } from '../db/engine.ts';
import { raiseMark } from '../db/hub-settings.ts';
import { DEVICE_KEPT_MS } from '../devices/policy.ts';
import { deleteOldCodeFailures, deleteOldDevices } from '../devices/store.ts';
import { deleteOldKeys, hasOldKeys } from '../idempotency/answer-once.ts';
import { expireContent } from '../integrations/expire.ts';
import type { ReplyDeps } from '../notifications/answer-reply.ts';
import { type ReplyReport, readReplies } from '../notifications/read-replies.ts';
import type { NotificationSender } from '../notifications/sender.ts';
import {
  deleteHiddenPages,
  deleteOldNotifications,
  deleteOldSlackCodes,
} from '../notifications/store.ts';
import { USED_KEPT_MS } from '../oauth/policy.ts';
import { deleteEndedClients, deleteOldSecrets } from '../oauth/store.ts';
import type { FailedSignIns } from '../people/failed-sign-ins.ts';
import { deleteExpiredSessions } from '../people/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { fireDueSchedules } from '../triggers/fire-schedules.ts';
import { handOverDueAnswers } from '../uncertainties/hand-over-due.ts';
import { resolveDueDecisions } from '../uncertainties/resolve-due.ts';
import { withdrawAbandoned } from '../uncertainties/session-questions.ts';
import type { createArchiveStore, UploadDeps } from '../uploads/deps.ts';
import { expireUploads } from '../uploads/expire.ts';
import { extractDueTexts } from '../uploads/extraction/extract-due.ts';
import { collectUploads } from '../uploads/receive.ts';
import { createLoop } from './loop.ts';
import { createSweeper } from './sweeper.ts';

interface LoopParts {
  deps: HubDeps;
  uploads: UploadDeps;
  notifications: NotificationSender;
  archive: ReturnType<typeof createArchiveStore>;
  /** Null: the hub reads no replies. */
  replies: ReplyDeps | null;
  onReply: ReplyReport['onOutcome'];
}

type OnError = (error: unknown) => void;

export type HubLoops = ReturnType<typeof createLoops>;

/** The background loops of a hub by name, in the order in which they start. */
export function createLoops(parts: LoopParts, onError: OnError) {
  return {
    sweeper: createSweeper(parts.deps, onError),
    ...createDueLoops(parts, onError),
    ...createMessageLoops(parts, onError),
    ...createRetentionLoops(parts, onError),
    databaseMark: createDatabaseMark(parts.deps, onError),
  };
}

/** Rows and pieces of work that a loop takes at a time. */
const DUE_MAX = 100;
const LOGINS_MAX = 200;
const ITEMS_MAX = 200;
const NOTIFICATIONS_MAX = 500;
const OLD_KEYS_MAX = 1_000;

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/** A restore that takes back less than this may go unnoticed. */
const MARK_INTERVAL_MS = 2_000;
/** As long as people ask why they did not hear of something. */
const NOTIFICATIONS_KEPT_MS = 30 * 24 * 60 * MINUTE_MS;

const hasMore = (result: { hasMore: boolean }) => result.hasMore;

/** Loops that do what has become due. */
function createDueLoops({ deps, uploads }: LoopParts, onError: OnError) {
  const shared = { clock: deps.clock, onError };
  let collected: Awaited<ReturnType<typeof collectUploads>> = null;
  return {
    // Recovers the leases of agents whose token has ended, in all workspaces. Tools stop at once,
    // since their job tokens end; the jobs follow within 2 s.
    endedTokens: createLoop(shared, {
      intervalMs: SECOND_MS,
      work: () => endLeasesOfEndedTokens(deps),
      hasMore: (ended) => ended === AGENTS_MAX,
    }),
    // Resolves overdue decision requests with their assumed value, if they opted in, and withdraws
    // the questions of sessions that do not wait any more. People set deadlines in minutes or more.
    deadlines: createLoop(shared, {
      intervalMs: SECOND_MS,
      work: async () =>
        Math.max(await resolveDueDecisions(deps, DUE_MAX), await withdrawAbandoned(deps, DUE_MAX)),
      hasMore: (due) => due === DUE_MAX,
    }),
    // Hands over the answers that can no longer be withdrawn. People wait for this one after each
    // answer.
    handOvers: createLoop(shared, {
      intervalMs: 500,
      work: () => handOverDueAnswers(deps, DUE_MAX),
      hasMore: (due) => due === DUE_MAX,
    }),
    // Extracts the texts of uploaded documents. A stop aborts the extractions in progress, so that
    // it does not wait for a slow parser; the next start does them again.
    extraction: createLoop(shared, {
      intervalMs: SECOND_MS,
      async work(stopping) {
        collected = await collectUploads(uploads, collected);
        return extractDueTexts(uploads, stopping);
      },
      hasMore,
    }),
    // Fires the schedules whose next slot is due. The finest step of a schedule is a minute.
    triggerSchedule: createLoop(shared, {
      intervalMs: SECOND_MS,
      work: () => fireDueSchedules(deps, DUE_MAX),
      hasMore: ({ due }) => due === DUE_MAX,
    }),
  };
}

/** Loops that send messages to people and read their replies. */
function createMessageLoops(
  { deps: { clock }, notifications: sender, replies, onReply }: LoopParts,
  onError: OnError,
) {
  const shared = { clock, onError };
  const sending = createLoop(shared, {
    // A person who is needed hears of it within a second.
    intervalMs: 250,
    work: () => sender.sendDue(),
    hasMore,
    finish: () => sender.stop(),
  });
  return {
    // Sends what is due in the outbox.
    notifications: {
      ...sending,
      async runOnce() {
        const result = await sender.sendDue();
        await sender.idle();
        return result;
      },
    },
    // Reads replies to mails about questions, as often as mail servers let programs sign in.
    mailReplies: createLoop(shared, {
      intervalMs: MINUTE_MS / 2,
      async work(stopping) {
        const nothing = { hasMore: false };
        if (replies === null) return nothing;
        const reading = readReplies(replies, stopping, { onOutcome: onReply, onError });
        // A stop closes the connection of the pass in progress.
        return reading.catch((error: unknown) => {
          if (stopping.aborted) return nothing;
          throw error;
        });
      },
      hasMore,
    }),
  };
}

/** Loops that delete what is no longer kept. Small pieces keep no other write waiting for long. */
function createRetentionLoops({ deps, uploads, archive }: LoopParts, onError: OnError) {
  const { database, clock } = deps;
  const places: ScanPlaces = new Map();
  const shared = { clock, onError };
  return {
    // Idempotency keys that are older than their retention.
    keyRetention: createLoop(shared, {
      intervalMs: MINUTE_MS,
      async work() {
        if (!(await hasOldKeys(database.reader, clock.nowMs()))) return 0;
        return database.write(NO_WORKSPACE, (tx) => deleteOldKeys(tx, OLD_KEYS_MAX));
      },
      hasMore: (deleted) => deleted === OLD_KEYS_MAX,
    }),
    // Uploads past their retention, and the remains of uploads that were never finished.
    uploadRetention: createLoop(shared, {
      intervalMs: MINUTE_MS,
      work: () => expireUploads(uploads),
      hasMore,
    }),
    // Inbound content whose workspace has set a retention that has passed.
    contentRetention: createLoop(shared, {
      intervalMs: MINUTE_MS,
      work: () => expireContent(deps, ITEMS_MAX),
      hasMore,
    }),
    // Jobs that ended longer ago than their workspace keeps them; they are archived before. Each
    // round reads every entry that ended long enough ago, also those that are still needed.
    jobRetention: createLoop(shared, {
      intervalMs: 10 * MINUTE_MS,
      work: () => retireEndedJobs({ ...deps, archive }, places),
      hasMore,
    }),
    // Expired sessions, and device logins, OAuth secrets and OAuth clients that have ended.
    loginRetention: createLoop(shared, {
      intervalMs: MINUTE_MS,
      work: () =>
        database.write(NO_WORKSPACE, async (tx) => {
          await deleteOldDevices(tx, tx.nowMs - DEVICE_KEPT_MS, LOGINS_MAX);
          await deleteOldCodeFailures(tx, tx.nowMs - DEVICE_KEPT_MS);
          await deleteOldSecrets(tx, tx.nowMs - USED_KEPT_MS, LOGINS_MAX);
          await deleteEndedClients(tx, LOGINS_MAX);
          return deleteExpiredSessions(tx, { expiresAtMs: tx.nowMs, limit: LOGINS_MAX });
        }),
      hasMore: (deleted) => deleted === LOGINS_MAX,
    }),
    // Notifications of long ago, pages that were closed without a report, and old codes.
    notificationRetention: createLoop(shared, {
      intervalMs: MINUTE_MS,
      work: () =>
        database.write(NO_WORKSPACE, async (tx) => {
          await deleteHiddenPages(tx);
          await deleteOldSlackCodes(tx);
          const beforeMs = tx.nowMs - NOTIFICATIONS_KEPT_MS;
          return await deleteOldNotifications(tx, beforeMs, NOTIFICATIONS_MAX);
        }),
      hasMore: (deleted) => deleted === NOTIFICATIONS_MAX,
    }),
  };
}

/**
 * Raises the mark of a database that hubs share, by which they notice that it was restored to an
 * earlier state. A database file is restored by a command that begins a new epoch.
 */
function createDatabaseMark({ database, clock }: HubDeps, onError: OnError) {
  return createLoop(
    { clock, onError },
    {
      intervalMs: MARK_INTERVAL_MS,
      async work() {
        if (database.engine === 'sqlite') return;
        await database.writeConcurrent({ workspaceId: NO_WORKSPACE, keys: ['mark'] }, raiseMark);
      },
      hasMore: () => false,
    },
  );
}

/** The loops that run on every hub, whether or not it leads. */
export function createLoopsOfEachHub(
  { database, clock }: HubDeps,
  { receiver, failedSignIns }: { receiver: HintReceiver; failedSignIns: FailedSignIns },
  onError: OnError,
) {
  const shared = { clock, onError };
  return {
    // Looks for changes on other hubs whose hints were lost: a waiting claim whose hint was lost is
    // answered within a second.
    missedHints: createLoop(shared, {
      intervalMs: 500,
      work: receiver.look,
      hasMore: () => false,
    }),
    // Records the sign-ins that failed at this hub, a last time when it stops.
    failedSignIns: createLoop(shared, {
      intervalMs: MINUTE_MS,
      work: () => failedSignIns.record(database),
      hasMore: () => false,
      finish: () => failedSignIns.record(database).catch(onError),
    }),
  };
}

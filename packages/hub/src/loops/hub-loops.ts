import type { ReplyDeps } from '../notifications/answer-reply.ts';
import type { ReplyReport } from '../notifications/read-replies.ts';
import type { NotificationSender } from '../notifications/sender.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { createArchiveStore, UploadDeps } from '../uploads/deps.ts';
import { createContentRetention } from './content-retention.ts';
import { createDatabaseMark } from './database-mark.ts';
import { createDeadlines } from './deadlines.ts';
import { createEndedTokens } from './ended-tokens.ts';
import { createExtraction } from './extraction.ts';
import { createHandOvers } from './hand-overs.ts';
import { createJobRetention } from './job-retention.ts';
import { createKeyRetention } from './key-retention.ts';
import { createLoginRetention } from './login-retention.ts';
import { createMailReplies } from './mail-replies.ts';
import { createNotificationRetention } from './notification-retention.ts';
import { createNotificationLoop } from './notifications.ts';
import { createSweeper } from './sweeper.ts';
import { createTriggerSchedule } from './trigger-schedule.ts';
import { createUploadRetention } from './upload-retention.ts';

interface LoopParts {
  deps: HubDeps;
  uploads: UploadDeps;
  notifications: NotificationSender;
  archive: ReturnType<typeof createArchiveStore>;
  /** Null: the hub reads no replies. */
  replies: ReplyDeps | null;
  onReply: ReplyReport['onOutcome'];
}

export type HubLoops = ReturnType<typeof createLoops>;

/** The background loops of a hub by name, in the order in which they start. */
export function createLoops(
  { deps, uploads, archive, notifications, replies, onReply }: LoopParts,
  onError: (error: unknown) => void,
) {
  return {
    sweeper: createSweeper(deps, onError),
    endedTokens: createEndedTokens(deps, onError),
    keyRetention: createKeyRetention(deps, onError),
    deadlines: createDeadlines(deps, onError),
    handOvers: createHandOvers(deps, onError),
    extraction: createExtraction(uploads, onError),
    uploadRetention: createUploadRetention(uploads, onError),
    triggerSchedule: createTriggerSchedule(deps, onError),
    contentRetention: createContentRetention(deps, onError),
    jobRetention: createJobRetention({ ...deps, archive }, onError),
    loginRetention: createLoginRetention(deps, onError),
    notifications: createNotificationLoop(notifications, deps.clock, onError),
    mailReplies: createMailReplies(replies, deps.clock, { onOutcome: onReply, onError }),
    notificationRetention: createNotificationRetention(deps, onError),
    databaseMark: createDatabaseMark(deps, onError),
  };
}

import type { FastifyBaseLogger } from 'fastify';
import type { ReplyDeps, ReplyOutcome } from '../notifications/answer-reply.ts';
import { NotificationSender } from '../notifications/sender.ts';
import type { SlackDeps } from '../slack/deps.ts';
import { SlackSocket } from '../slack/socket.ts';
import type { Config } from './config.ts';
import type { HubDeps } from './hub-deps.ts';

/** How people hear of questions and answer them while no page is open. */
export interface Messages {
  notifications: NotificationSender;
  /** Null: the operator has set no app of Slack. */
  slack: SlackDeps | null;
  /** The connection of Socket Mode; null: Slack sends to paths of the hub, or not at all. */
  socket: SlackSocket | null;
  /** Null: the hub reads no replies. */
  replies: ReplyDeps | null;
  onReply(outcome: ReplyOutcome): void;
}

/** @param address its `baseUrl` is empty before the hub listens. */
export function createMessages(
  deps: HubDeps,
  config: Config,
  address: { readonly baseUrl: string },
  log: FastifyBaseLogger,
): Messages {
  const { allowPrivateHosts: allowed, smtp, slack: app, replyMailbox: mailbox } = config;
  const baseUrl = () => address.baseUrl;
  const notifications = new NotificationSender(
    { ...deps, allowed, smtp, slack: app, takesReplies: mailbox !== null, log, baseUrl },
    (error) => log.error({ err: error }, 'A notification could not be sent.'),
  );
  const slack = createSlackDeps(deps, notifications, address, log);
  const appToken = app?.appToken ?? null;
  const socket = slack === null || appToken === null ? null : new SlackSocket(slack, appToken);
  const replies = smtp === null || mailbox === null ? null : { ...deps, smtp, mailbox, baseUrl };
  return { notifications, slack, socket, replies, onReply: (outcome) => logReply(log, outcome) };
}

function createSlackDeps(
  deps: HubDeps,
  notifications: NotificationSender,
  address: { readonly baseUrl: string },
  log: FastifyBaseLogger,
): SlackDeps | null {
  const { slack } = notifications;
  if (slack === null) return null;
  return {
    ...deps,
    slack,
    notifications,
    log,
    get baseUrl() {
      return address.baseUrl;
    },
  };
}

/** Says what became of a reply, without its text and its sender. */
function logReply(log: FastifyBaseLogger, outcome: ReplyOutcome): void {
  const { kind } = outcome;
  const reason = kind === 'ignored' ? outcome.reason : undefined;
  log.info({ kind, reason }, 'A reply by mail was read.');
}

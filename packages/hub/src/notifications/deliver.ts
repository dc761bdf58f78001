import { createHmac } from 'node:crypto';
import { OutboundHostError, type PrivateHosts } from '../base/outbound-hosts.ts';
import { chatBody } from './chat-body.ts';
import type { Message } from './content.ts';
import { type PostReply, post } from './post.ts';
import type { ChannelTarget, PushTarget } from './target.ts';
import { encryptPush, pushHeaders, pushText, type VapidKeys } from './web-push.ts';

/** How one attempt to deliver a message went. */
export type Delivery =
  /** @param receipt by which the message can be edited; absent or null: it cannot be. */
  | { kind: 'delivered'; receipt?: string | null }
  /** @param afterMs how long the receiver wants to be left alone. */
  | { kind: 'again'; failure: string; afterMs: number }
  /** This message is refused for good. */
  | { kind: 'refused'; failure: string }
  /** The receiver says that it is gone. */
  | { kind: 'gone'; failure: string };

interface Means {
  allowed: PrivateHosts;
  signal: AbortSignal;
  nowMs: number;
  vapid: VapidKeys;
  /** The open questions of the workspace, for the badge of an app. */
  openCount: number;
}

const SIGNING_SECRET = 'whsec_';
/** ntfy: 3 is its default, and 4 makes a sound where 3 does not. */
const priorities = { decision: 4, job_ended: 3, job_waits: 4, test: 3 } as const;

/** Makes one attempt to deliver a message. It throws nothing. */
export async function deliver(
  target: ChannelTarget,
  message: Message,
  means: Means,
): Promise<Delivery> {
  try {
    const sent = requestOf(target, message, means);
    return judge(await post(sent.url, sent.body, { ...means, headers: sent.headers }), means.nowMs);
  } catch (error) {
    if (error instanceof OutboundHostError) return { kind: 'refused', failure: error.message };
    return { kind: 'again', failure: `No answer: ${reasonOf(error)}.`, afterMs: 0 };
  }
}

function requestOf(target: ChannelTarget, message: Message, means: Means): Request {
  if (target.kind === 'push') return pushRequest(target, message, means);
  const { kind, url, secret } = target;
  if (kind === 'ntfy') return ntfyRequest(url, secret, message);
  if (kind === 'webhook') return signed(url, secret, message, means);
  const body = JSON.stringify(chatBody(kind, message));
  return { url: new URL(url), body, headers: { 'content-type': 'application/json' } };
}

interface Request {
  url: URL;
  body: string | Buffer;
  headers: Record<string, string>;
}

/** Publishes as JSON, to the root of the server (docs.ntfy.sh/publish, "Publish as JSON"). */
function ntfyRequest(url: string, token: string | null, message: Message): Request {
  const topicUrl = new URL(url);
  const topic = decodeURIComponent(topicUrl.pathname.replace(/^.*\/(?=[^/]+$)/, ''));
  const { title, text, url: click, event } = message;
  return {
    url: new URL('.', topicUrl),
    body: JSON.stringify({
      topic,
      title,
      message: text,
      click,
      priority: priorities[event],
      actions: [{ action: 'view', label: 'Open', url: click, clear: true }],
    }),
    headers: {
      'content-type': 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
  };
}

/** A message that only the browser can read, to its push service (RFC 8030). */
function pushRequest(
  { url: endpoint, keys }: PushTarget,
  message: Message,
  { vapid, openCount, nowMs }: Means,
): Request {
  const url = new URL(endpoint);
  return {
    url,
    body: encryptPush(pushText(message, openCount), keys),
    headers: pushHeaders(url, vapid, message, nowMs),
  };
}

/** A webhook as Standard Webhooks 1.0 signs it: id, time and body, by HMAC-SHA256. */
function signed(url: string, secret: string | null, message: Message, { nowMs }: Means): Request {
  const { id, event, title, text, url: page, atMs } = message;
  const at = String(Math.floor(nowMs / 1_000));
  const data = { notificationId: id, title, text, url: page };
  const body = JSON.stringify({ type: event, timestamp: new Date(atMs).toISOString(), data });
  const key = Buffer.from((secret ?? '').slice(SIGNING_SECRET.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  return {
    url: new URL(url),
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': at,
      'webhook-signature': `v1,${signature}`,
    },
  };
}

const RETRY_AFTER_MS_MAX = 60 * 60_000;
const laterStatuses = new Set([408, 425, 429]);

function judge({ status, retryAfter }: PostReply, nowMs: number): Delivery {
  const failure = `The receiver answered ${status}.`;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 404 || status === 410) return { kind: 'gone', failure };
  if (status < 500 && !laterStatuses.has(status)) return { kind: 'refused', failure };
  return {
    kind: 'again',
    failure,
    afterMs: Math.min(waitOf(retryAfter, nowMs), RETRY_AFTER_MS_MAX),
  };
}

function waitOf(retryAfter: string | null, nowMs: number): number {
  if (retryAfter === null) return 0;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - nowMs;
  return Number.isFinite(ms) ? Math.max(ms, 0) : 0;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'it took longer than 10 s';
  return (error as NodeJS.ErrnoException).code ?? error.name;
}

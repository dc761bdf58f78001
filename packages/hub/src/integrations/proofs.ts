import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { INTEGRATION_SECRET_HEADER } from '@signalbox/contract';
import { HubError } from '../errors.ts';

/** The headers of a signed chat event (Slack, "Verifying requests from Slack"). */
export const CHAT_SIGNATURE_HEADER = 'x-slack-signature';
export const CHAT_TIMESTAMP_HEADER = 'x-slack-request-timestamp';
/** How far the sender's time may be from ours: an older request may be one that was overheard. */
export const CHAT_WINDOW_MS = 5 * 60 * 1_000;
const SIGNATURE_VERSION = 'v0';
const MS_PER_SECOND = 1_000;

/**
 * Holds the header of an ingest against the secrets of the hub.
 *
 * @param secrets one, or two while they are changed; none: nobody gets in.
 * @throws HubError INTEGRATION_UNAUTHORIZED
 */
export function checkIntegrationSecret(
  secrets: readonly string[],
  headers: IncomingHttpHeaders,
): void {
  const sent = headers[INTEGRATION_SECRET_HEADER];
  if (secrets.length === 0) {
    throw new HubError(
      'INTEGRATION_UNAUTHORIZED',
      'The hub takes no events: its operator sets SVC_INTEGRATION_EVENT_SECRET first.',
    );
  }
  if (typeof sent !== 'string' || !isOneOf(secrets, sent)) {
    throw new HubError(
      'INTEGRATION_UNAUTHORIZED',
      `Send the shared secret in the header ${INTEGRATION_SECRET_HEADER}.`,
    );
  }
}

/**
 * What of a chat event's proof can be told before its body is there.
 * @throws HubError INTEGRATION_UNAUTHORIZED
 */
export function checkChatTimestamp(
  secrets: readonly string[],
  headers: IncomingHttpHeaders,
  nowMs: number,
): void {
  if (secrets.length === 0) {
    throw new HubError(
      'INTEGRATION_UNAUTHORIZED',
      'The hub takes no chat events: its operator sets SVC_CHAT_SIGNING_SECRET first.',
    );
  }
  const { timestamp } = readProof(headers);
  if (Math.abs(nowMs - Number(timestamp) * MS_PER_SECOND) > CHAT_WINDOW_MS) {
    throw new HubError(
      'INTEGRATION_UNAUTHORIZED',
      'The request was signed more than five minutes ago, or a clock is wrong.',
    );
  }
}

/**
 * Holds the signature against the bytes as they came.
 * @throws HubError INTEGRATION_UNAUTHORIZED
 */
export function checkChatSignature(
  secrets: readonly string[],
  headers: IncomingHttpHeaders,
  bytes: Uint8Array,
): void {
  const { timestamp, signature } = readProof(headers);
  const expected = secrets.map((secret) => signChatEvent(secret, timestamp, bytes));
  if (!isOneOf(expected, signature)) throw new HubError('INTEGRATION_UNAUTHORIZED');
}

/** The signature that the chat sends for a body. */
export function signChatEvent(secret: string, timestamp: string, bytes: Uint8Array): string {
  const mac = createHmac('sha256', secret).update(`${SIGNATURE_VERSION}:${timestamp}:`);
  return `${SIGNATURE_VERSION}=${mac.update(bytes).digest('hex')}`;
}

function readProof(headers: IncomingHttpHeaders): { timestamp: string; signature: string } {
  const timestamp = headers[CHAT_TIMESTAMP_HEADER];
  const signature = headers[CHAT_SIGNATURE_HEADER];
  const isTime = typeof timestamp === 'string' && /^\d{1,12}$/.test(timestamp);
  if (!isTime || typeof signature !== 'string') {
    throw new HubError(
      'INTEGRATION_UNAUTHORIZED',
      `Sign the request: ${CHAT_SIGNATURE_HEADER} and ${CHAT_TIMESTAMP_HEADER} are missing.`,
    );
  }
  return { timestamp, signature };
}

/** In a time that tells nothing of where they differ, or of which it was. */
function isOneOf(secrets: readonly string[], sent: string): boolean {
  const digest = hash('sha256', sent, 'buffer');
  let found = false;
  for (const secret of secrets) {
    if (timingSafeEqual(hash('sha256', secret, 'buffer'), digest)) found = true;
  }
  return found;
}

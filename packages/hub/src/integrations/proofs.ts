import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { INTEGRATION_SECRET_HEADER } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';

/** The headers of a signed chat event (Slack, "Verifying requests from Slack"). */
export const CHAT_SIGNATURE_HEADER = 'x-slack-signature';
export const CHAT_TIMESTAMP_HEADER = 'x-slack-request-timestamp';
/** How far the sender's clock may differ: an older request may be replayed by an attacker. */
export const CHAT_WINDOW_MS = 5 * 60 * 1_000;
const SIGNATURE_VERSION = 'v0';
const MS_PER_SECOND = 1_000;

/**
 * Checks the secret of an ingest request.
 *
 * @param secrets the valid ones: two during a rotation, none while ingestion is disabled.
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
      'Mint an integration secret at the console, or set SVC_INTEGRATION_EVENT_SECRET.',
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
 * Checks the timestamp of a chat event, before its body is read.
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
      'Chat events are disabled. Set SVC_CHAT_SIGNING_SECRET to enable them.',
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
 * Checks the signature over the bytes of the body.
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

/** Computes the signature that the chat sends for a body. */
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

/** Compares in constant time, so that it leaks neither where nor which secret differs. */
function isOneOf(secrets: readonly string[], sent: string): boolean {
  const digest = hash('sha256', sent, 'buffer');
  let found = false;
  for (const secret of secrets) {
    if (timingSafeEqual(hash('sha256', secret, 'buffer'), digest)) found = true;
  }
  return found;
}

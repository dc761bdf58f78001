import { SOURCE_CHARS_MAX } from '@signalbox/contract';
import {
  applyDataPolicy,
  cutText,
  type DataPolicy,
  redactSecrets,
} from '../context/data-policy.ts';
import type { InboundEvent } from './event.ts';

/** An event as its workspace's data policy lets it be written. */
export interface KeptEvent {
  source: string;
  type: string;
  title: string;
  content: string;
  actor: string | null;
  threadRef: string | null;
  sourceRef: string | null;
  /** Null unless the policy keeps content in full. */
  data: unknown;
  extensions: Record<string, unknown>;
  /** Whether `content` is less than there was. */
  truncated: boolean;
}

/** As in the contract: a redacted text may be longer than it was. */
const TYPE_CHARS_MAX = 255;
const ACTOR_CHARS_MAX = 300;
const REDACTED = '[redacted]';
/** Names whose value is a secret whatever it looks like. */
const secretName =
  /(?:password|passwd|passphrase|secret|(?:api|access|private)[_-]?key|(?:^|[_-])token|[a-z]Token)$/i;
/** Shorter values are words such as true or none. */
const SECRET_CHARS_MIN = 6;

/**
 * Applies the data policy to everything of an event that can be written anywhere: the context
 * item, the ledger, and what templates make of it. Data is content: only `full` keeps it.
 */
export function keepEvent(policy: DataPolicy, event: InboundEvent): KeptEvent {
  const redact = policy.redactSecrets ? redactSecrets : (text: string) => text;
  const content = event.content ?? describeData(event.data);
  const kept = applyDataPolicy(policy, {
    title: event.title ?? `${event.type} from ${event.source}`,
    text: content,
    sourceRef: event.sourceRef,
    threadRef: event.threadRef,
  });
  const keepsData = policy.contentStorage === 'full';
  const redactJson = (value: unknown) => (policy.redactSecrets ? redactValue(value) : value);
  return {
    source: cutText(redact(event.source), SOURCE_CHARS_MAX),
    type: cutText(redact(event.type), TYPE_CHARS_MAX),
    title: kept.title,
    content: kept.text,
    actor: event.actor === null ? null : cutText(redact(event.actor), ACTOR_CHARS_MAX),
    threadRef: kept.threadRef,
    sourceRef: kept.sourceRef,
    data: keepsData ? redactJson(event.data) : null,
    // What was an object stays one.
    extensions: keepsData ? (redactJson(event.extensions) as Record<string, unknown>) : {},
    truncated: kept.truncated,
  };
}

/** Data without words of its own is its own description. */
function describeData(data: unknown): string {
  return data === null || data === undefined ? '' : JSON.stringify(data, null, 2);
}

/** Bodies are at most 32 levels deep, so this ends. */
function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactSecrets(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(redactValue);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => [
      redactSecrets(name),
      isSecret(name, member) ? REDACTED : redactValue(member),
    ]),
  );
}

function isSecret(name: string, value: unknown): boolean {
  return secretName.test(name) && typeof value === 'string' && value.length >= SECRET_CHARS_MIN;
}

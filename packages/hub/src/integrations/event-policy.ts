import { SOURCE_CHARS_MAX } from '@signalbox/contract';
import type { Computation } from '../base/side-thread.ts';
import {
  applyPolicyToNames,
  applyPolicyToText,
  cutText,
  type DataPolicy,
} from '../context/data-policy.ts';
import { SHORT_TEXT_CHARS } from '../context/prepare-text.ts';
import { redactSecrets } from '../context/redaction.ts';
import type { EventFields } from '../triggers/match-event.ts';
import type { InboundEvent } from './event.ts';

/** An event after its workspace's data policy was applied. Only this is stored. */
export interface StorableEvent extends EventFields {
  title: string;
  content: string;
  /** Whether the policy shortened `content`. */
  truncated: boolean;
}

/** The contract's limits, applied again because redaction may lengthen a text. */
const TYPE_CHARS_MAX = 255;
const ACTOR_CHARS_MAX = 300;
const REDACTED = '[redacted]';
/** Names whose value is a secret in any format. */
const secretName =
  /(?:password|passwd|passphrase|secret|(?:api|access|private)[_-]?key|(?:^|[_-])token|[a-z]Token)$/i;
/** Shorter values are words such as true or none. */
const SECRET_CHARS_MIN = 6;

/** `applyEventPolicy` in another thread. */
export const eventScreening: Computation<
  { policy: DataPolicy; event: InboundEvent },
  StorableEvent
> = {
  module: import.meta.url,
  name: 'eventScreening',
  compute: ({ policy, event }) => applyEventPolicy(policy, event),
};

/** Whether it takes long to apply the data policy to an event. */
export function isLongEvent({ content, data, extensions }: InboundEvent): boolean {
  const others = JSON.stringify([data, extensions]);
  return (content?.length ?? 0) + others.length > SHORT_TEXT_CHARS;
}

/**
 * Applies the data policy to every part of an event that may be stored: in the context item, the
 * ledger, and texts rendered from templates. Data counts as content: only `full` stores it.
 */
export function applyEventPolicy(policy: DataPolicy, event: InboundEvent): StorableEvent {
  const redact = policy.redactSecrets ? redactSecrets : (text: string) => text;
  const { text: content, truncated } = applyPolicyToText(
    policy,
    event.content ?? describeData(event.data),
  );
  const { title, sourceRef, threadRef } = applyPolicyToNames(policy, {
    title: event.title ?? `${event.type} from ${event.source}`,
    sourceRef: event.sourceRef,
    threadRef: event.threadRef,
  });
  const storesData = policy.contentStorage === 'full';
  const redactJson = (value: unknown) => (policy.redactSecrets ? redactValue(value) : value);
  return {
    channel: event.channel,
    source: cutText(redact(event.source), SOURCE_CHARS_MAX),
    type: cutText(redact(event.type), TYPE_CHARS_MAX),
    title,
    content,
    actor: event.actor === null ? null : cutText(redact(event.actor), ACTOR_CHARS_MAX),
    threadRef,
    sourceRef,
    data: storesData ? redactJson(event.data) : null,
    // Redaction maps an object to an object.
    extensions: storesData ? (redactJson(event.extensions) as Record<string, unknown>) : {},
    truncated,
  };
}

/** Data without a text is described by its JSON. */
function describeData(data: unknown): string {
  return data === null || data === undefined ? '' : JSON.stringify(data, null, 2);
}

/** Recursion is bounded: bodies are at most 32 levels deep. */
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

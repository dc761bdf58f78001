import { hash } from 'node:crypto';
import { CloudEvent, type endpoints, type OwnEvent, type RequestInput } from '@signalbox/contract';
import { readTimestamp } from '../base/clock.ts';
import { compileLater } from '../base/compile-later.ts';
import { invalidField } from '../base/errors.ts';
import type { EventFields } from '../triggers/match-event.ts';

type IngestInput = RequestInput<typeof endpoints.integrations.ingest.request>;

/** An inbound event in the form that all channels share. */
export interface InboundEvent extends EventFields {
  /** Hash of the event's identity: deliveries with the same hash are the same event. */
  keyHash: string;
  /** Null: the time of arrival is used. */
  occurredAtMs: number | null;
}

/** The workspace that an event names. */
export interface EventAddress {
  workspaceId: string | undefined;
  workspaceSlug: string | undefined;
}

const wholeCloudEvent = compileLater(CloudEvent);
const cloudEventNames = new Set(Object.keys(CloudEvent.properties));
const base64Pattern = /^(?:[0-9A-Za-z+/]{4})*(?:[0-9A-Za-z+/]{2}==|[0-9A-Za-z+/]{3}=)?$/;
const textTypePattern = /^(?:text\/|application\/(?:json\b|xml\b|[^;]+\+(?:json|xml)\b))/i;

/** Whether a body is read as a CloudEvent, whose extension attributes are kept. */
export function isCloudEvent(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'specversion' in body;
}

/** @throws HubError INVALID_REQUEST */
export function readIngest(input: IngestInput): { event: InboundEvent; address: EventAddress } {
  if (!isCloudEvent(input)) {
    // The schema accepts the two forms only, and this is not a CloudEvent.
    const own = input as OwnEvent;
    const { workspaceId, workspaceSlug } = own;
    return { event: readOwnEvent(own), address: { workspaceId, workspaceSlug } };
  }
  if (!wholeCloudEvent().Check(input)) {
    throw invalidField(
      '',
      'must be a CloudEvent 1.0 with a workspaceid, since it has a specversion',
    );
  }
  const address = { workspaceId: input.workspaceid, workspaceSlug: undefined };
  return { event: readCloudEvent(input), address };
}

/** Hashes the identity of an event within its form or channel. */
export function hashEventKey(form: 'own' | 'cloudevent' | 'chat', ...parts: string[]): string {
  return hash('sha256', JSON.stringify([form, ...parts]));
}

function readOwnEvent(own: OwnEvent): InboundEvent {
  return {
    channel: 'ingest',
    keyHash: hashEventKey('own', own.idempotencyKey),
    source: own.source,
    type: own.type,
    occurredAtMs: readTime('/occurredAt', own.occurredAt),
    title: own.title ?? null,
    content: own.content ?? null,
    actor: own.actor ?? null,
    threadRef: own.threadRef ?? null,
    sourceRef: own.sourceRef ?? null,
    data: own.data ?? null,
    extensions: {},
  };
}

function readCloudEvent(event: CloudEvent): InboundEvent {
  const { data, data_base64: encoded, subject } = event;
  if (data !== undefined && encoded !== undefined) {
    throw invalidField('/data_base64', 'must be absent when data is present');
  }
  const decoded = encoded === undefined ? null : decodeText(encoded, event.datacontenttype);
  return {
    channel: 'ingest',
    keyHash: hashEventKey('cloudevent', event.source, event.id),
    source: event.source,
    type: event.type,
    occurredAtMs: readTime('/time', event.time),
    title: subject === undefined ? null : `${event.type}: ${subject}`,
    content: decoded ?? (typeof data === 'string' ? data : null),
    actor: null,
    threadRef: null,
    sourceRef: null,
    data: data ?? null,
    extensions: Object.fromEntries(
      Object.entries({ subject, ...event }).filter(
        ([name, value]) =>
          value !== undefined && (name === 'subject' || !cloudEventNames.has(name)),
      ),
    ),
  };
}

/** Decodes base64 of textual types. Other content is not stored. */
function decodeText(encoded: string, contentType: string | undefined): string | null {
  if (!base64Pattern.test(encoded)) throw invalidField('/data_base64', 'must be base64');
  if (contentType === undefined || !textTypePattern.test(contentType)) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  return text.replaceAll('\0', '');
}

function readTime(path: string, text: string | undefined): number | null {
  return text === undefined ? null : readTimestamp(path, text);
}

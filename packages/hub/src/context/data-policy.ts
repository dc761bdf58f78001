import { CONTEXT_TEXT_CHARS_MAX, type DataPolicy as WorkspacePolicy } from '@signalbox/contract';
import { assert } from '../base/errors.ts';
import type { Reader } from '../db/engine.ts';
import { readWorkspace } from '../workspaces/store.ts';
import { redactSecrets } from './redaction.ts';

/** The content that a workspace allows to be stored. */
export type DataPolicy = Pick<WorkspacePolicy, 'contentStorage' | 'redactSecrets'>;

/** The short fields that the policy applies to. Null for an absent reference. */
export interface PolicyNames {
  title: string;
  sourceRef: string | null;
  threadRef: string | null;
}

/** A text as the policy allows it to be stored. */
export interface PolicyText {
  text: string;
  /** Whether the policy shortened the text. */
  truncated: boolean;
}

/** Characters of text that `excerpt` keeps: enough to recognize the subject. */
export const EXCERPT_CHARS = 1_000;
/** The contract's limits, applied again because redaction may lengthen a text. */
const TITLE_CHARS_MAX = 1_000;
const SOURCE_REF_CHARS_MAX = 2_000;
const THREAD_REF_CHARS_MAX = 1_000;

/** Reads the policy of a workspace that is known to exist. */
export async function readDataPolicy(reader: Reader, workspaceId: string): Promise<DataPolicy> {
  const row = await readWorkspace(reader, workspaceId);
  assert(row !== undefined, 'the workspace of an authorized operation exists');
  return { contentStorage: row.content_storage, redactSecrets: row.redact_secrets === 1 };
}

/**
 * Applies a workspace's data policy to a text. Every text passes through it before it is written,
 * so what the policy excludes reaches neither the database nor its index or log. Secrets are
 * redacted before the text is cut, so that no excerpt ends inside a secret. Takes long for a long
 * text.
 *
 * @param isRedacted whether the secrets were redacted before.
 */
export function applyPolicyToText(
  policy: DataPolicy,
  text: string,
  isRedacted = false,
): PolicyText {
  const clean = policy.redactSecrets && !isRedacted ? redactSecrets(text) : text;
  const kept = cutByStorage(policy.contentStorage, clean);
  return { text: kept, truncated: kept.length < clean.length };
}

/**
 * Applies a workspace's data policy to the title and the references of a text. Equal references
 * stay equal, so replacing an item by its reference still works.
 */
export function applyPolicyToNames(policy: DataPolicy, names: PolicyNames): PolicyNames {
  const redact = policy.redactSecrets ? redactSecrets : (text: string) => text;
  const keepName = (name: string | null, charsMax: number) =>
    name === null ? null : cutText(redact(name), charsMax);
  return {
    title: cutText(redact(names.title), TITLE_CHARS_MAX),
    sourceRef: keepName(names.sourceRef, SOURCE_REF_CHARS_MAX),
    threadRef: keepName(names.threadRef, THREAD_REF_CHARS_MAX),
  };
}

function cutByStorage(storage: DataPolicy['contentStorage'], text: string): string {
  switch (storage) {
    case 'full':
      return cutText(text, CONTEXT_TEXT_CHARS_MAX);
    case 'excerpt':
      return cutText(text, EXCERPT_CHARS);
    case 'metadata':
      return '';
  }
}

/** Cuts a text to a number of characters, without splitting a surrogate pair. */
export function cutText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const last = text.charCodeAt(charsMax - 1);
  const isHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHighSurrogate ? charsMax - 1 : charsMax);
}

import type { ContextItemKind, TrustLabel } from '@signalbox/contract';

export const contextKindWords: Readonly<Record<ContextItemKind, string>> = {
  note: 'Note',
  document: 'Document',
  decision: 'Decision',
  run_summary: 'Summary of a run',
  knowledge_artifact: 'Knowledge',
  event: 'Event',
  chat_message: 'Chat message',
  mail_message: 'Mail',
  upload_extract: 'Text of an upload',
};

export const trustWords: Readonly<Record<TrustLabel, string>> = {
  internal: 'written by the hub',
  member: 'written by a member',
  external: 'from outside',
};

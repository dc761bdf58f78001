import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Cursor,
  Defaulted,
  Id,
  IdempotencyKey,
  LIST_LIMIT_MAX,
  List,
  ListLimit,
  NextCursor,
  Nullable,
  Ok,
  OneOf,
  TEXT_CHARS_MAX,
  Text,
  Timestamp,
} from '../schema.ts';
import { exampleIds } from './example-ids.ts';

export const contextItemKinds = [
  'note',
  'document',
  'decision',
  'run_summary',
  'knowledge_artifact',
  'event',
  'chat_message',
  'mail_message',
  'upload_extract',
] as const;
export type ContextItemKind = (typeof contextItemKinds)[number];

/** From most to least trusted. External text is fenced and labelled in packs. */
export const trustLabels = ['internal', 'member', 'external'] as const;
export type TrustLabel = (typeof trustLabels)[number];

/** Text that the hub extracted, such as that of an upload, may be longer than a request body. */
export const CONTEXT_TEXT_CHARS_MAX = 2_000_000;
const EXCERPT_CHARS_MAX = 1_000;

/** The maximum for the source of an item or an event. The source of an event may be a URI. */
export const SOURCE_CHARS_MAX = 1_000;

const Title = Text(1_000);
const Source = Text(SOURCE_CHARS_MAX, {
  minLength: 1,
  description: 'The system that the item comes from, such as mail.',
});
const SourceRef = Text(2_000, {
  minLength: 1,
  description: 'The name or address of the item at the source.',
});
const ThreadRef = Text(1_000, {
  minLength: 1,
  description: 'The conversation that the item belongs to.',
});
const Pinned = Type.Boolean({
  description: 'The item goes into every pack, after the requested items.',
});

const summaryFields = {
  itemId: Id('contextItem'),
  workspaceId: Id('workspace'),
  kind: OneOf(contextItemKinds),
  title: Title,
  source: Source,
  sourceRef: Nullable(SourceRef),
  threadRef: Nullable(ThreadRef),
  trust: OneOf(trustLabels),
  pinned: Pinned,
  contentHash: Text(64, { description: 'The SHA-256 of text, in lower-case hex.' }),
  occurredAt: Timestamp(),
  supersededBy: Nullable(Id('contextItem', 'The item that replaces it in packs.')),
  validFrom: Nullable(Timestamp()),
  validTo: Nullable(Timestamp()),
} as const;

export const ContextItem = Type.Object(
  { ...summaryFields, text: Text(CONTEXT_TEXT_CHARS_MAX) },
  { description: 'A piece of knowledge. Packs consist of items.' },
);
export type ContextItem = Static<typeof ContextItem>;

/** An item in lists, with an excerpt, because a page of whole texts could be very large. */
export const ContextItemSummary = Type.Object(
  { ...summaryFields, excerpt: Text(EXCERPT_CHARS_MAX) },
  { description: 'A context item with an excerpt instead of its text.' },
);
export type ContextItemSummary = Static<typeof ContextItemSummary>;

const exampleSummaryFields = {
  itemId: 'ctx_1j78s1o00003qjivc1q0',
  workspaceId: exampleIds.workspace,
  kind: 'decision',
  title: 'Public endpoints reveal no versions',
  source: 'api',
  sourceRef: 'adr/0012',
  threadRef: null,
  trust: 'member',
  pinned: false,
  contentHash: 'b0ce1df0b3c0c0b7c1ca0a6f02a6f5c8b7f2c0de5b0a6f02a6f5c8b7f2c0de5b',
  occurredAt: '2026-10-20T14:00:00.000Z',
  supersededBy: null,
  validFrom: null,
  validTo: null,
} as const;
const exampleText = 'What answers without sign-in says nothing of versions or hosts.';
const exampleSummary: ContextItemSummary = { ...exampleSummaryFields, excerpt: exampleText };
export const exampleContextItem: ContextItem = { ...exampleSummaryFields, text: exampleText };

export const contextItems = {
  upsert: defineEndpoint({
    name: 'contextItemsUpsert',
    path: '/control-plane/v1/context-items/upsert',
    tag: 'Context items',
    scopes: ['agent', 'integrate'],
    console: true,
    repeat: { withKey: 'idempotencyKey' },
    summary: 'Create or replace a context item',
    description:
      'With itemId, replaces that item. Otherwise replaces the item with the same source and ' +
      'sourceRef, or creates a new one. It replaces all fields. The data policy of the workspace ' +
      'decides which content is stored.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      itemId: Type.Optional(Id('contextItem')),
      kind: OneOf(contextItemKinds),
      text: Text(TEXT_CHARS_MAX, { minLength: 1 }),
      title: Defaulted(Title, ''),
      source: Defaulted(Source, 'api'),
      sourceRef: Type.Optional(SourceRef),
      threadRef: Type.Optional(ThreadRef),
      trust: Defaulted(OneOf(trustLabels), 'member'),
      pinned: Defaulted(Pinned, false),
      occurredAt: Type.Optional(Timestamp('If absent, now.')),
      supersededBy: Type.Optional(Id('contextItem')),
      validFrom: Type.Optional(Timestamp()),
      validTo: Type.Optional(Timestamp()),
      idempotencyKey: Type.Optional(IdempotencyKey),
    }),
    response: Ok({
      itemId: Id('contextItem'),
      item: ContextItem,
      created: Type.Boolean(),
      idempotent: Type.Optional(Type.Boolean()),
    }),
    errors: ['CONTEXT_ITEM_NOT_FOUND'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        kind: 'decision',
        title: exampleSummary.title,
        text: exampleText,
        sourceRef: 'adr/0012',
      },
      response: {
        ok: true,
        itemId: exampleContextItem.itemId,
        item: exampleContextItem,
        created: true,
      },
    },
  }),
  get: defineEndpoint({
    name: 'contextItemsGet',
    path: '/control-plane/v1/context-items/get',
    tag: 'Context items',
    scopes: ['read', 'agent'],
    console: true,
    repeat: 'safe',
    summary: 'Read a context item with its whole text',
    description: 'Returns superseded items too. Their supersededBy names the successor.',
    request: Type.Object({ workspaceId: Id('workspace'), itemId: Id('contextItem') }),
    response: Ok({ item: ContextItem }),
    errors: ['CONTEXT_ITEM_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, itemId: exampleContextItem.itemId },
      response: { ok: true, item: exampleContextItem },
    },
  }),
  list: defineEndpoint({
    name: 'contextItemsList',
    path: '/control-plane/v1/context-items/list',
    tag: 'Context items',
    scopes: ['read', 'agent'],
    console: true,
    repeat: 'safe',
    summary: 'List context items',
    description: 'Newest occurredAt first. The optional fields are filters.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      kind: Type.Optional(OneOf(contextItemKinds)),
      source: Type.Optional(Source),
      threadRef: Type.Optional(ThreadRef),
      includeSuperseded: Defaulted(Type.Boolean(), false),
      limit: ListLimit,
      cursor: Cursor,
    }),
    response: Ok({ items: List(ContextItemSummary, LIST_LIMIT_MAX), nextCursor: NextCursor }),
    example: {
      request: { workspaceId: exampleIds.workspace, kind: 'decision' },
      response: { ok: true, items: [exampleSummary], nextCursor: null },
    },
  }),
  search: defineEndpoint({
    name: 'contextItemsSearch',
    path: '/control-plane/v1/context-items/search',
    tag: 'Context items',
    scopes: ['read', 'agent'],
    console: true,
    repeat: 'safe',
    summary: 'Search context items by their words',
    description:
      'Searches title and text, best match first. The excerpt shows the match. Any text is a ' +
      'valid query, because queries have no syntax.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      query: Text(1_000, { minLength: 1 }),
      kinds: Type.Optional(List(OneOf(contextItemKinds), contextItemKinds.length)),
      includeSuperseded: Defaulted(Type.Boolean(), false),
      limit: ListLimit,
      cursor: Cursor,
    }),
    response: Ok({ items: List(ContextItemSummary, LIST_LIMIT_MAX), nextCursor: NextCursor }),
    example: {
      request: { workspaceId: exampleIds.workspace, query: 'version public endpoint' },
      response: { ok: true, items: [exampleSummary], nextCursor: null },
    },
  }),
  remove: defineEndpoint({
    name: 'contextItemsRemove',
    path: '/control-plane/v1/context-items/remove',
    tag: 'Context items',
    scopes: ['agent', 'integrate'],
    console: true,
    repeat: 'safe',
    summary: 'Remove a context item',
    description:
      'Deletes the item, its copies in packs and its summary. The text of an upload is deleted ' +
      'with the upload.',
    request: Type.Object({ workspaceId: Id('workspace'), itemId: Id('contextItem') }),
    response: Ok({ removed: Type.Unsafe<true>({ type: 'boolean', const: true }) }),
    errors: ['CONTEXT_ITEM_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, itemId: exampleContextItem.itemId },
      response: { ok: true, removed: true },
    },
  }),
} as const;

import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Defaulted,
  Id,
  IdempotencyKey,
  Integer,
  List,
  Ok,
  OneOf,
  Text,
  Timestamp,
} from '../schema.ts';
import {
  CONTEXT_TEXT_CHARS_MAX,
  contextItemKinds,
  exampleContextItem,
  SOURCE_CHARS_MAX,
  trustLabels,
} from './context-items.ts';
import { exampleIds } from './example-ids.ts';

/** The hint that asks for live mail threads (docs/reference/specification.md, Context pack). */
export const FRESH_HINT = 'fresh_v1';
export const TOKEN_BUDGET_DEFAULT = 16_000;
/** The limit for all live fetching of one resolve. Later threads fall back to the cached text. */
export const FRESH_TOTAL_MS = 10_000;
const TOKEN_BUDGET_MAX = 2_000_000;
const PACK_ITEMS_MAX = 1_000;

const Tokens = Integer(0, 1_000_000_000, 'An estimate, in tokens.');
const ExpansionHints = List(
  Text(100, { minLength: 1 }),
  20,
  'fresh_v1 fetches mail threads live. Unknown hints are ignored.',
);

export const PackItem = Type.Object(
  {
    itemId: Id('contextItem'),
    title: Text(1_000),
    source: Text(SOURCE_CHARS_MAX),
    reason: OneOf(['requested', 'pinned', 'relevant', 'recent'], {
      description: 'Why the item is in the pack. The budget is spent in the order of these values.',
    }),
    trust: OneOf(trustLabels),
    tokens: Tokens,
  },
  { description: 'A context item in a pack.' },
);
export type PackItem = Static<typeof PackItem>;

export const OmittedItem = Type.Object(
  {
    itemId: Id('contextItem'),
    title: Text(1_000),
    reason: OneOf(['over_budget', 'superseded', 'duplicate', 'outside_validity']),
    tokens: Tokens,
  },
  { description: 'A context item that was considered and omitted.' },
);
export type OmittedItem = Static<typeof OmittedItem>;

export const PackSection = Type.Object(
  {
    itemId: Id('contextItem'),
    kind: OneOf(contextItemKinds),
    source: Text(SOURCE_CHARS_MAX),
    title: Text(1_000),
    text: Text(CONTEXT_TEXT_CHARS_MAX, {
      description: 'External text is fenced and labelled as untrusted.',
    }),
    textKind: OneOf(['cached', 'live']),
    fetchedAt: Timestamp('When the text was fetched from its source.'),
    trust: OneOf(trustLabels),
    truncated: Type.Boolean(),
  },
  { description: 'The content of one item of a pack.' },
);
export type PackSection = Static<typeof PackSection>;

export const PackFreshness = Type.Object(
  {
    requested: Type.Boolean({ description: 'Whether the request had fresh_v1.' }),
    threads: List(
      Type.Object({
        threadRef: Text(1_000),
        textKind: OneOf(['cached', 'live']),
        fetchedAt: Timestamp(),
        message: Type.Optional(Text(1_000, { description: 'Why the cached text was used.' })),
      }),
      PACK_ITEMS_MAX,
    ),
  },
  { description: 'Which threads were fetched live, and which fell back to the cached text.' },
);
export type PackFreshness = Static<typeof PackFreshness>;

const examplePackId = 'pack_1j78s1o80003qjivc1q1';

export const contextPacks = {
  buildRunV1: defineEndpoint({
    name: 'contextPacksBuildRunV1',
    path: '/control-plane/v1/context-packs/build-run-v1',
    tag: 'Context packs',
    scopes: ['agent', 'enqueue'],
    origin: 'specification',
    console: true,
    repeat: { withKey: 'idempotencyKey' },
    jobToken: 'own-run',
    summary: 'Build a context pack for a run',
    description:
      'Adds requested items, then pinned ones, then those relevant to the goal and the recent ' +
      'jobs of the run, then recent ones, until tokenBudget is spent. Superseded items are ' +
      'omitted, and items with the same content appear once. A pack never changes; another build ' +
      'creates the next version. A job token builds the first pack of its run, without requested ' +
      'items.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      runId: Id('run'),
      requestedContextItemIds: Defaulted(List(Id('contextItem'), PACK_ITEMS_MAX), []),
      expansionHints: Defaulted(ExpansionHints, []),
      tokenBudget: Defaulted(Integer(1, TOKEN_BUDGET_MAX), TOKEN_BUDGET_DEFAULT),
      idempotencyKey: Type.Optional(IdempotencyKey),
    }),
    response: Ok({
      packId: Id('contextPack'),
      runId: Id('run'),
      version: Integer(1, Number.MAX_SAFE_INTEGER, 'Increases by one with each pack of the run.'),
      contentHash: Text(64, {
        description: 'The SHA-256 of the content of the pack, in lower-case hex.',
      }),
      tokenEstimate: Tokens,
      items: List(PackItem, PACK_ITEMS_MAX),
      omitted: List(OmittedItem, PACK_ITEMS_MAX),
      warnings: List(Text(1_000), 100),
      idempotent: Type.Optional(Type.Boolean()),
    }),
    errors: ['RUN_NOT_FOUND', 'CONTEXT_ITEM_NOT_FOUND'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        runId: exampleIds.run,
        requestedContextItemIds: [exampleContextItem.itemId],
        expansionHints: [],
      },
      response: {
        ok: true,
        packId: examplePackId,
        runId: exampleIds.run,
        version: 1,
        contentHash: '3f1d0ac2e7b8495f6a1c0d2e3b4a59687786950413223140516f7e8d9cabbacd',
        tokenEstimate: 14,
        items: [
          {
            itemId: exampleContextItem.itemId,
            title: exampleContextItem.title,
            source: exampleContextItem.source,
            reason: 'requested',
            trust: 'member',
            tokens: 14,
          },
        ],
        omitted: [],
        warnings: [],
      },
    },
  }),
  resolveRunV1: defineEndpoint({
    name: 'contextPacksResolveRunV1',
    path: '/control-plane/v1/context-packs/resolve-run-v1',
    tag: 'Context packs',
    scopes: ['read', 'agent'],
    origin: 'specification',
    console: true,
    repeat: 'safe',
    jobToken: 'own-run',
    summary: 'Resolve a context pack to its content',
    description:
      'Without packId, resolves the latest pack of the run. fresh_v1 fetches the mail threads of ' +
      'the pack live, within 10 s in all. A thread that cannot be fetched falls back to its ' +
      'cached text, freshness says so, and the call succeeds.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      runId: Id('run'),
      packId: Type.Optional(Id('contextPack')),
      expansionHints: Defaulted(ExpansionHints, []),
      format: Defaulted(OneOf(['sections', 'markdown']), 'sections'),
    }),
    response: Ok({
      packId: Id('contextPack'),
      sections: List(PackSection, PACK_ITEMS_MAX),
      markdown: Type.Optional(
        Text(20_000_000, { description: 'With format markdown, all sections as one document.' }),
      ),
      freshness: PackFreshness,
    }),
    errors: ['RUN_NOT_FOUND', 'CONTEXT_PACK_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, runId: exampleIds.run },
      response: {
        ok: true,
        packId: examplePackId,
        sections: [
          {
            itemId: exampleContextItem.itemId,
            kind: exampleContextItem.kind,
            source: exampleContextItem.source,
            title: exampleContextItem.title,
            text: exampleContextItem.text,
            textKind: 'cached',
            fetchedAt: exampleContextItem.occurredAt,
            trust: exampleContextItem.trust,
            truncated: false,
          },
        ],
        freshness: { requested: false, threads: [] },
      },
    },
  }),
} as const;

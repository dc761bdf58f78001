import assert from 'node:assert/strict';
import { endpoints } from '@signalbox/contract';
import { runScenarios, type Scenario } from '../support/api-scenario.ts';
import { CANARY, type World } from '../support/api-world.ts';
import { addItem } from '../support/context-world.ts';

const { contextItems } = endpoints;

const inHome = (fields: Record<string, unknown>) => (world: World) => ({
  workspaceId: world.home.workspaceId,
  ...fields,
});
const note = { kind: 'note', text: 'Half to even.' };

const malformed = (
  [
    ['without a kind', { text: 'x' }, '/kind'],
    ['with an unknown kind', { ...note, kind: 'rumour' }, 'knowledge_artifact'],
    ['without text', { kind: 'note' }, '/text'],
    ['with an empty text', { ...note, text: '' }, '/text'],
    ['with an unknown trust', { ...note, trust: 'absolute' }, 'internal, member, external'],
    ['with an invalid timestamp', { ...note, occurredAt: 'yesterday' }, '/occurredAt'],
    ['at a leap second', { ...note, occurredAt: '2016-12-31T23:59:60Z' }, '/occurredAt'],
    ['with an empty source', { ...note, source: '' }, '/source'],
    ['with a title that is too long', { ...note, title: 'x'.repeat(1_001) }, '/title'],
    ['pinned by a word', { ...note, pinned: 'yes' }, '/pinned'],
    [
      'that ends before it begins',
      { ...note, validFrom: '2026-01-02T00:00:00Z', validTo: '2026-01-01T00:00:00Z' },
      '/validTo',
    ],
  ] as const
).map(
  ([what, fields, path]): Scenario => ({
    name: `refuses an item ${what}`,
    endpoint: contextItems.upsert,
    body: inHome(fields),
    expect: { error: 'INVALID_REQUEST', contains: [path] },
  }),
);

runScenarios('context-items/upsert', [
  {
    name: 'creates an item with defaults',
    endpoint: contextItems.upsert,
    body: inHome(note),
    expect: {
      body: {
        created: true,
        item: {
          kind: 'note',
          title: '',
          text: 'Half to even.',
          source: 'api',
          sourceRef: null,
          threadRef: null,
          trust: 'member',
          pinned: false,
          supersededBy: null,
          validFrom: null,
          validTo: null,
        },
      },
    },
  },
  {
    name: 'finds an item by its source and reference',
    endpoint: contextItems.upsert,
    credential: 'integrateOnly',
    body: inHome({ ...note, source: CANARY.slice(0, 3), sourceRef: 'page/1' }),
    expect: { body: { created: true } },
  },
  {
    name: 'replaces an item that it finds',
    endpoint: contextItems.upsert,
    credential: 'agentOnly',
    body: inHome({ ...note, text: 'Up.', source: CANARY.slice(0, 3), sourceRef: 'page/1' }),
    expect: { body: { created: false, item: { text: 'Up.' } } },
  },
  {
    name: 'creates a separate item when another workspace has the same reference',
    endpoint: contextItems.upsert,
    body: inHome({ ...note, source: 'page', sourceRef: 'shared' }),
    expect: { body: { created: true } },
  },
  {
    name: 'replaces by id, and refuses a reference that another item has',
    endpoint: contextItems.upsert,
    body: async (world) => ({
      ...inHome({ ...note, source: 'page', sourceRef: 'shared' })(world),
      itemId: await addItem(world, world.home, 'Another.'),
    }),
    expect: { error: 'INVALID_REQUEST', contains: ['/sourceRef'] },
  },
  {
    name: 'accepts timestamps of any zone and returns them in UTC',
    endpoint: contextItems.upsert,
    body: inHome({ ...note, occurredAt: '2026-03-01T10:00:00+02:00' }),
    expect: { body: { item: { occurredAt: '2026-03-01T08:00:00.000Z' } } },
  },
  {
    name: 'reports unknown fields',
    endpoint: contextItems.upsert,
    body: inHome({ ...note, labels: ['a'] }),
    expect: { headers: { 'x-ignored-fields': 'labels' } },
  },
  ...malformed,
]);

runScenarios('context-items/get, list and search', [
  {
    name: 'get reads all fields of an item',
    endpoint: contextItems.get,
    credential: 'viewer',
    body: async (world) =>
      inHome({ itemId: await addItem(world, world.home, 'Rounding is half to even.') })(world),
    expect: {
      check(body) {
        const item = body.item as Record<string, unknown>;
        assert.equal(item.text, 'Rounding is half to even.');
        assert.deepEqual(
          Object.keys(item).sort(),
          Object.keys(contextItems.get.example.response.item).sort(),
        );
      },
    },
  },
  {
    name: 'list shows the items of the workspace and no others',
    endpoint: contextItems.list,
    credential: 'agentOnly',
    body: inHome({}),
    expect: {
      body: { nextCursor: null },
      contains: ['"excerpt":"Rounding is half to even."'],
      absent: ({ other }) => [other.itemId, '"text"'],
    },
  },
  ...['ctx_0', `ctx_search:1`, 'ctx_00:99999999999999999'].map(
    (key): Scenario => ({
      name: `list refuses the cursor ${key}, which no list returned`,
      endpoint: contextItems.list,
      body: inHome({ cursor: Buffer.from(key).toString('base64url') }),
      expect: { error: 'INVALID_REQUEST', contains: ['/cursor'] },
    }),
  ),
  {
    name: 'search finds words only in its workspace',
    endpoint: contextItems.search,
    credential: 'readOnly',
    body: inHome({ query: 'rounding' }),
    expect: {
      check: (body) => assert.equal((body.items as unknown[]).length, 1),
      absent: ({ other }) => [other.itemId],
    },
  },
  {
    name: 'search finds nothing for a query of punctuation, without an error',
    endpoint: contextItems.search,
    body: inHome({ query: '"*" (' }),
    expect: { body: { items: [], nextCursor: null } },
  },
  ...(
    [
      ['an empty query', { query: '' }, '/query'],
      ['a query that is too long', { query: 'x'.repeat(1_001) }, '/query'],
      ['an unknown kind', { query: 'x', kinds: ['rumour'] }, '/kinds/0'],
    ] as const
  ).map(
    ([what, fields, path]): Scenario => ({
      name: `search refuses ${what}`,
      endpoint: contextItems.search,
      body: inHome(fields),
      expect: { error: 'INVALID_REQUEST', contains: [path] },
    }),
  ),
]);

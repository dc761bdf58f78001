import assert from 'node:assert/strict';
import { endpoints } from '@signalbox/contract';
import { runScenarios, type Scenario } from '../support/api-scenario.ts';
import type { World } from '../support/api-world.ts';
import { addItem, buildPack } from '../support/context-world.ts';
import { ensureRun } from '../support/decision-world.ts';

const { contextPacks } = endpoints;

const ofRun =
  (fields: Record<string, unknown> = {}) =>
  async (world: World) => ({
    workspaceId: world.home.workspaceId,
    runId: await ensureRun(world),
    ...fields,
  });

runScenarios('context-packs/build-run-v1', [
  {
    name: 'builds a pack with only the fields of the specification',
    endpoint: contextPacks.buildRunV1,
    credential: 'enqueueOnly',
    body: async (world) =>
      ofRun({
        requestedContextItemIds: [await addItem(world, world.home, 'Asked for.')],
        expansionHints: [],
      })(world),
    expect: {
      body: { version: 1, items: [{ reason: 'requested', title: 'Asked for.' }], omitted: [] },
      absent: ({ other }) => [other.itemId],
    },
  },
  {
    name: 'creates the next version each time',
    endpoint: contextPacks.buildRunV1,
    credential: 'agentOnly',
    body: ofRun(),
    expect: { body: { version: 2 } },
  },
  {
    name: 'gives the same warning for an item of another workspace and an unknown one',
    endpoint: contextPacks.buildRunV1,
    body: async (world) => ofRun({ requestedContextItemIds: [world.other.itemId] })(world),
    expect: {
      body: ({ other }) => ({
        warnings: [`The requested item ${other.itemId} does not exist in this workspace.`],
      }),
    },
  },
  ...(
    [
      ['a budget of 0', { tokenBudget: 0 }, '/tokenBudget'],
      ['a budget in words', { tokenBudget: 'much' }, '/tokenBudget'],
      ['ids that are not text', { requestedContextItemIds: [7] }, '/requestedContextItemIds/0'],
      ['hints that are not a list', { expansionHints: 'fresh_v1' }, '/expansionHints'],
      ['a key with blanks', { idempotencyKey: 'a b' }, '/idempotencyKey'],
    ] as const
  ).map(
    ([what, fields, path]): Scenario => ({
      name: `refuses ${what}`,
      endpoint: contextPacks.buildRunV1,
      body: ofRun(fields),
      expect: { error: 'INVALID_REQUEST', contains: [path] },
    }),
  ),
]);

runScenarios('context-packs/resolve-run-v1', [
  {
    name: 'resolves the latest pack into sections',
    endpoint: contextPacks.resolveRunV1,
    credential: 'viewer',
    body: async (world) => {
      await addItem(world, world.home, 'In the pack.');
      await buildPack(world, world.home, await ensureRun(world));
      return ofRun()(world);
    },
    expect: {
      body: {
        sections: [{ text: 'In the pack.', textKind: 'cached', trust: 'member', truncated: false }],
        freshness: { requested: false, threads: [] },
      },
      check: (body) => assert.ok(!('markdown' in body)),
    },
  },
  {
    name: 'returns the pack as markdown on request',
    endpoint: contextPacks.resolveRunV1,
    credential: 'readOnly',
    body: ofRun({ format: 'markdown' }),
    expect: { check: ({ markdown }) => assert.match(String(markdown), /\n\nIn the pack\.\n/) },
  },
  {
    name: 'ignores unknown hints, and fetches nothing without mail',
    endpoint: contextPacks.resolveRunV1,
    body: ofRun({ expansionHints: ['fresh_v1', 'fresh_v9'] }),
    expect: { body: { freshness: { requested: true, threads: [] } } },
  },
  {
    name: 'refuses an unknown format',
    endpoint: contextPacks.resolveRunV1,
    body: ofRun({ format: 'pdf' }),
    expect: { error: 'INVALID_REQUEST', contains: ['sections, markdown'] },
  },
]);

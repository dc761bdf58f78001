import assert from 'node:assert/strict';
import { type ConformanceRow, rowsOf } from './row.ts';
import type { Body, SpecClient } from './spec-client.ts';

const build = '/control-plane/v1/context-packs/build-run-v1';
const resolve = '/control-plane/v1/context-packs/resolve-run-v1';

/** A run, and an item to ask for. The specification leaves open how items come into the store. */
async function prepare(spec: SpecClient, item: Body = {}): Promise<{ ref: Body; itemId: string }> {
  const { workspaceId } = spec;
  const repoId = await spec.addRepository();
  const { runId } = await spec.ok('/control-plane/v1/runs/upsert', {
    workspaceId,
    repoId,
    runRef: 'export',
    status: 'in_progress',
    currentMilestone: 'implementation',
    runStatePath: '.runs/export.json',
  });
  const { itemId } = await spec.ok('/control-plane/v1/context-items/upsert', {
    workspaceId,
    kind: 'note',
    text: 'Exports are rounded half to even.',
    ...item,
  });
  return { ref: { workspaceId, runId }, itemId };
}

export const contextServiceRows: ConformanceRow[] = rowsOf('What the service does', [
  [
    'service-context-1',
    'Build and resolve context packs from a context store.',
    async (spec) => {
      const { ref } = await prepare(spec);
      const { packId } = await spec.ok(build, { ...ref, expansionHints: [] });
      const pack = await spec.ok(resolve, ref);
      assert.equal(pack.packId, packId);
      assert.equal(pack.sections[0].text, 'Exports are rounded half to even.');
    },
  ],
]);

export const contextResourceRows: ConformanceRow[] = rowsOf('Resources and their fields', [
  [
    'resources-context-1',
    'Context pack: run-scoped assembly of project context items, knowledge artifacts and ' +
      'integration-sourced content.',
    async (spec) => {
      const { ref } = await prepare(spec);
      for (const kind of ['knowledge_artifact', 'event']) {
        const item = { workspaceId: ref.workspaceId, kind, text: `The text of a ${kind}.` };
        await spec.ok('/control-plane/v1/context-items/upsert', item);
      }
      await spec.ok(build, { ...ref, expansionHints: [] });
      const { sections } = await spec.ok(resolve, ref);
      const kinds = sections.map(({ kind }: Body) => kind).sort();
      assert.deepEqual(kinds, ['event', 'knowledge_artifact', 'note']);
    },
  ],
  [
    'resources-context-2',
    'Context pack: inputs workspaceId, runId, requestedContextItemIds (array of string, ' +
      'optional), expansionHints (array of string).',
    async (spec) => {
      const { ref, itemId } = await prepare(spec);
      const requestedContextItemIds = [itemId];
      const { items } = await spec.ok(build, {
        ...ref,
        requestedContextItemIds,
        expansionHints: [],
      });
      assert.equal(items[0].itemId, itemId);
      await spec.ok(build, { ...ref, expansionHints: [] });
      await spec.fail(build, { ...ref, requestedContextItemIds: itemId }, 400);
      await spec.fail(build, { ...ref, expansionHints: [1] }, 400);
      await spec.fail(build, { workspaceId: ref.workspaceId }, 400);
    },
  ],
  [
    'resources-context-3',
    'Context pack: fresh_v1 requests live fetching of a mail thread; resolving returns pack ' +
      'content, including cached text extracts and optionally live content.',
    async (spec) => {
      const mail = { kind: 'mail_message', source: 'mail', threadRef: '<a@acme.dev>' };
      const { ref } = await prepare(spec, { ...mail, text: 'The cached extract.' });
      await spec.ok(build, { ...ref, expansionHints: ['fresh_v1'] });
      // Without a mail server the answer has the cached extract and says why. Live fetching is
      // tested with a real server in mail-live-sqlite.test.ts.
      const { sections, freshness } = await spec.ok(resolve, ref);
      assert.equal(sections[0].textKind, 'cached');
      assert.match(sections[0].text, /The cached extract\./);
      assert.equal(freshness.threads[0].threadRef, '<a@acme.dev>');
      assert.match(freshness.threads[0].message, /No mail account/);
    },
  ],
]);

export const contextEndpointRows: ConformanceRow[] = rowsOf('Endpoints', [
  [
    'context-packs-1',
    'POST /control-plane/v1/context-packs/build-run-v1: workspaceId, runId, ' +
      'requestedContextItemIds optional array, expansionHints array.',
    async (spec) => {
      const { ref, itemId } = await prepare(spec);
      const body = { ...ref, requestedContextItemIds: [itemId], expansionHints: ['fresh_v1'] };
      const pack = await spec.ok(build, body);
      assert.equal(pack.ok, true);
      assert.equal(pack.runId, ref.runId);
      await spec.fail(build, body, 401, null);
    },
  ],
  [
    'context-packs-2',
    'POST /control-plane/v1/context-packs/resolve-run-v1.',
    async (spec) => {
      const { ref } = await prepare(spec);
      await spec.fail(resolve, ref, 400);
      const { packId } = await spec.ok(build, { ...ref, expansionHints: [] });
      const pack = await spec.ok(resolve, { ...ref, packId });
      assert.equal(pack.sections.length, 1);
      await spec.fail(resolve, ref, 401, null);
    },
  ],
]);

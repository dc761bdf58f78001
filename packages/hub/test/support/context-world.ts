import type { TestContext } from 'node:test';
import { endpoints, type RequestOf } from '@signalbox/contract';
import { type HomeWorld, startHomeWorld, type TestWorkspace } from './home-world.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import type { TestHubOptions } from './test-hub.ts';

const { contextItems, contextPacks, runs } = endpoints;

export type UpsertBody = RequestOf<typeof contextItems.upsert>;
export type BuildBody = RequestOf<typeof contextPacks.buildRunV1>;
export type ResolveBody = RequestOf<typeof contextPacks.resolveRunV1>;

/** A run of the workspace, with a goal unless that is null. */
export async function addRun(
  harness: HomeWorld,
  { workspaceId, repoId, token }: TestWorkspace,
  goal: string | null,
  runRef = 'first-run',
): Promise<string> {
  const body = { workspaceId, repoId, runRef, status: 'in_progress' };
  const { runId } = await harness.call(
    runs.upsertV1,
    goal === null ? body : { ...body, goal },
    token,
  );
  return runId;
}

/** A note of the workspace. */
export async function addItem(
  { call }: HomeWorld,
  { workspaceId, token }: TestWorkspace,
  text: string,
): Promise<string> {
  const body = { workspaceId, kind: 'note' as const, text, title: text };
  return (await call(contextItems.upsert, body, token)).itemId;
}

export async function buildPack(
  { call }: HomeWorld,
  { workspaceId, token }: TestWorkspace,
  runId: string,
): Promise<string> {
  return (await call(contextPacks.buildRunV1, { workspaceId, runId }, token)).packId;
}

/** A hub with a standing clock, a run with a goal, and short words for items and packs. */
export async function startContextWorld(
  t: TestContext,
  options: Omit<TestHubOptions, 'clock'> = {},
) {
  const clock: ManualClock = createManualClock();
  const harness = await startHomeWorld(t, { ...options, clock });
  const { workspaceId } = harness.home;
  const runId = await addRun(harness, harness.home, 'Make the billing export faster.');
  /** Each item is a second younger than the one before. */
  const add = async (body: Partial<UpsertBody> & { text: string }) => {
    clock.advance(1_000);
    const { itemId } = await harness.call(contextItems.upsert, {
      workspaceId,
      kind: 'note',
      ...body,
    });
    return itemId;
  };
  const build = (body: Partial<BuildBody> = {}) =>
    harness.call(contextPacks.buildRunV1, { workspaceId, runId, ...body });
  const resolve = (body: Partial<ResolveBody> = {}) =>
    harness.call(contextPacks.resolveRunV1, { workspaceId, runId, ...body });
  return { ...harness, clock, workspaceId, runId, add, build, resolve };
}

export const idsOf = (items: readonly { itemId: string }[]) => items.map(({ itemId }) => itemId);

import { exampleTrigger } from '@signalbox/contract';
import { insertRow } from '../../src/db/row-write.ts';
import { ingestEvent } from '../../src/integrations/ingest.ts';
import { developmentPrincipal } from '../../src/tokens/authenticate-bearer.ts';
import type { HomeWorld, TestWorkspace } from './home-world.ts';

let drawn = 0;

/** An event in a workspace's ledger, without the secret that a sender needs. */
export async function addEvent(
  { hub }: Pick<HomeWorld, 'hub'>,
  { workspaceId }: Pick<TestWorkspace, 'workspaceId'>,
  text = 'An event.',
): Promise<string> {
  const deps = { ...hub.deps, integrationWorkspaces: 'all' as const };
  const { eventId } = await ingestEvent(deps, developmentPrincipal(), {
    workspaceId,
    idempotencyKey: `ledger-${++drawn}`,
    source: text,
    type: 'noted',
    title: text,
    content: text,
    actor: text,
    data: { text },
  });
  return eventId;
}

/** A trigger that waits for an event which never comes, without a person who makes it. */
export async function addTriggerRow(
  { hub }: Pick<HomeWorld, 'hub'>,
  { workspaceId, repoId }: Pick<TestWorkspace, 'workspaceId' | 'repoId'>,
  name = 'Waiting',
  enabled: 0 | 1 = 1,
): Promise<string> {
  const { database, deps } = hub;
  const triggerId = deps.ids('trigger');
  await database.write(null, async (tx) =>
    insertRow(tx, 'triggers', {
      workspace_id: workspaceId,
      trigger_id: triggerId,
      name,
      type: 'event',
      enabled,
      match: JSON.stringify({ type: 'never' }),
      cron: null,
      time_zone: null,
      repo_id: repoId,
      run_ref_template: name,
      title_template: name,
      prompt_template: name,
      priority: 0,
      hourly_cap: exampleTrigger.hourlyCap,
      next_fire_at: null,
      created_by: 'test',
      created_at: tx.nowMs,
      updated_at: tx.nowMs,
    }),
  );
  return triggerId;
}

import type { Trigger, TriggerFiring, TriggerMatch } from '@signalbox/contract';
import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import type { TriggerWithUse } from './store.ts';
import type { FiringRow } from './store-firings.ts';

export function presentTrigger(row: TriggerWithUse): Trigger {
  return {
    triggerId: row.trigger_id,
    workspaceId: row.workspace_id,
    name: row.name,
    type: row.type,
    enabled: row.enabled === 1,
    // `save.ts` checked the match before it serialized it.
    match: row.match === null ? null : (JSON.parse(row.match) as TriggerMatch),
    cron: row.cron,
    timeZone: row.time_zone,
    repoId: row.repo_id,
    runRefTemplate: row.run_ref_template,
    titleTemplate: row.title_template,
    promptTemplate: row.prompt_template,
    priority: row.priority,
    hourlyCap: row.hourly_cap,
    nextFireAt: nullableTimestampOf(row.next_fire_at),
    lastFiredAt: nullableTimestampOf(row.last_fired_at),
    createdAt: timestampOf(row.created_at),
    updatedAt: timestampOf(row.updated_at),
  };
}

export function presentFiring(row: FiringRow): TriggerFiring {
  return {
    triggerId: row.trigger_id,
    replay: row.replay,
    outcome: row.outcome,
    // `fire.ts` writes reasons of the contract only.
    reason: row.reason as TriggerFiring['reason'],
    runId: row.run_id,
    jobId: row.job_id,
    at: timestampOf(row.at),
  };
}

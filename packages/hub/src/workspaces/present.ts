import type { CloudAiSettings, Membership, Workspace } from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import type { CloudAiSettingsTable } from '../db/schema/cloud-ai-jobs.ts';
import type { Role } from '../db/schema/tables.ts';
import type { WorkspaceRow } from './store.ts';

export function presentWorkspace(row: WorkspaceRow): Workspace {
  return {
    workspaceId: row.workspace_id,
    slug: row.slug,
    name: row.name,
    createdAt: timestampOf(row.created_at),
    dataPolicy: {
      contentStorage: row.content_storage,
      retentionDays: row.retention_days,
      redactSecrets: row.redact_secrets === 1,
    },
  };
}

/** @param changesAfter the position of now in the changes of the workspace. */
export function presentMembership(row: WorkspaceRow, role: Role, changesAfter: string): Membership {
  return { workspaceId: row.workspace_id, slug: row.slug, name: row.name, role, changesAfter };
}

export function presentCloudAiSettings(row: CloudAiSettingsTable): CloudAiSettings {
  return {
    summarizeSources: row.summarize_sources === 1,
    draftDecisionAnswers: row.draft_decision_answers === 1,
    model: row.model,
  };
}

import type { consoleEndpoints, RequestInput } from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import { appendAudit } from '../audit/append.ts';
import type { Reader } from '../db/engine.ts';
import type { Role } from '../db/schema/tables.ts';
import { HubError } from '../errors.ts';
import { insertMembership } from '../people/store.ts';
import { type Principal, personIdOf } from '../principal.ts';
import { createWorkspace, type WorkspaceDeps } from './create.ts';
import {
  readWorkspace,
  updateWorkspaceSettings,
  type WorkspaceRow,
  type WorkspaceSettings,
} from './store.ts';
import {
  type CloudAiSettingsRow,
  putCloudAiSettingsRow,
  readCloudAiSettingsRow,
} from './store-cloud-ai-settings.ts';

type UpdateInput = RequestInput<typeof consoleEndpoints.workspaceSettings.update.request>;

/**
 * Makes a workspace of which whoever asks is the owner.
 * @throws HubError SLUG_TAKEN
 */
export function createOwnWorkspace(
  deps: WorkspaceDeps,
  principal: Principal,
  { slug, name }: { slug: string; name: string },
): Promise<WorkspaceRow> {
  const personId = personIdOf(principal);
  return deps.database.write(null, async (tx) => {
    const row = await createWorkspace(deps, tx, { slug, name, createdBy: personId });
    await insertMembership(deps.database, tx, {
      workspace_id: row.workspace_id,
      person_id: personId,
      role: 'owner',
      created_at: tx.nowMs,
    });
    return row;
  });
}

/** All that people set about a workspace. */
export interface Settings {
  row: WorkspaceRow;
  cloudAi: CloudAiSettingsRow;
}

/** The settings, and what the person is in the workspace. */
export async function readSettings(
  { database: { reader } }: Pick<WorkspaceDeps, 'database'>,
  principal: Principal,
  workspaceId: string,
): Promise<Settings & { role: Role }> {
  const { role } = await requireAct(reader, principal, workspaceId, 'workspace.read');
  return { ...(await requireSettings(reader, workspaceId)), role };
}

/** Changes what is sent. @throws HubError NOT_ALLOWED */
export function updateSettings(
  { database }: Pick<WorkspaceDeps, 'database'>,
  principal: Principal,
  input: UpdateInput,
): Promise<Settings> {
  const { workspaceId } = input;
  return database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'workspace.update');
    const { row, cloudAi } = await requireSettings(tx, workspaceId);
    const wanted = wantedSettings(row, input);
    const wantedAi = wantedCloudAi(cloudAi, input);
    const changes = { ...listChanges(row, wanted), ...listChanges(cloudAi, wantedAi) };
    if (Object.keys(changes).length === 0) return { row, cloudAi };
    await updateWorkspaceSettings(database, tx, workspaceId, wanted);
    await putCloudAiSettingsRow(tx, wantedAi);
    await appendAudit(tx, {
      workspaceId,
      actor: personId,
      action: 'workspace.update',
      subject: workspaceId,
      data: changes,
    });
    return { row: { ...row, ...wanted }, cloudAi: wantedAi };
  });
}

async function requireSettings(reader: Reader, workspaceId: string): Promise<Settings> {
  const row = await readWorkspace(reader, workspaceId);
  if (row === undefined) throw new HubError('WORKSPACE_NOT_FOUND');
  const cloudAi = await readCloudAiSettingsRow(reader, workspaceId);
  return { row, cloudAi: cloudAi ?? { ...cloudAiOff, workspace_id: workspaceId } };
}

/** What no row of settings means. */
const cloudAiOff = { summarize_sources: 0, draft_decision_answers: 0, model: null } as const;

function wantedSettings(row: WorkspaceSettings, input: UpdateInput): WorkspaceSettings {
  const { name, dataPolicy: { contentStorage, retentionDays, redactSecrets } = {} } = input;
  return {
    name: name ?? row.name,
    content_storage: contentStorage ?? row.content_storage,
    retention_days: retentionDays === undefined ? row.retention_days : retentionDays,
    redact_secrets: toFlag(redactSecrets, row.redact_secrets),
  };
}

function wantedCloudAi(row: CloudAiSettingsRow, input: UpdateInput): CloudAiSettingsRow {
  const { summarizeSources, draftDecisionAnswers, model } = input.cloudAi ?? {};
  return {
    workspace_id: row.workspace_id,
    summarize_sources: toFlag(summarizeSources, row.summarize_sources),
    draft_decision_answers: toFlag(draftDecisionAnswers, row.draft_decision_answers),
    model: model === undefined ? row.model : model,
  };
}

function toFlag(wanted: boolean | undefined, known: 0 | 1): 0 | 1 {
  if (wanted === undefined) return known;
  return wanted ? 1 : 0;
}

/** Each setting that differs, with what it was and what it becomes. */
function listChanges<Row extends object>(
  row: Row,
  wanted: { [Name in keyof Row]?: Row[Name] },
): Record<string, { from: unknown; to: unknown }> {
  const names = Object.keys(wanted) as (keyof Row & string)[];
  return Object.fromEntries(
    names
      .filter((name) => row[name] !== wanted[name])
      .map((name) => [name, { from: row[name], to: wanted[name] }]),
  );
}

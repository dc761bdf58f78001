import type { consoleEndpoints, RequestInput } from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import { appendAudit } from '../audit/append.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Reader } from '../db/engine.ts';
import type { Role } from '../db/schema/tables.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { readWorkspace, updateWorkspace, type WorkspaceRow } from './store.ts';
import {
  type CloudAiSettingsRow,
  putCloudAiSettingsRow,
  readCloudAiSettingsRow,
} from './store-cloud-ai-settings.ts';

type WorkspaceSettings = Pick<
  WorkspaceRow,
  'name' | 'content_storage' | 'retention_days' | 'redact_secrets' | 'ask_owners_after_minutes'
>;
type UpdateInput = RequestInput<typeof consoleEndpoints.workspaceSettings.update.request>;

/** Everything that people can configure in a workspace. */
export interface Settings {
  row: WorkspaceRow;
  cloudAi: CloudAiSettingsRow;
}

/** The settings, and the person's role in the workspace. */
export async function readSettings(
  { database: { reader } }: Pick<HubDeps, 'database'>,
  principal: Principal,
  workspaceId: string,
): Promise<Settings & { role: Role }> {
  const { role } = await requireAct(reader, principal, workspaceId, 'workspace.read');
  return { ...(await requireSettings(reader, workspaceId)), role };
}

/**
 * Changes the settings that the request contains.
 * @throws HubError NOT_ALLOWED
 */
export function updateSettings(
  { database }: Pick<HubDeps, 'database'>,
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
    await updateWorkspace(tx, workspaceId, wanted);
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

/** The settings of a workspace without a row: everything is off. */
const cloudAiOff = { summarize_sources: 0, draft_decision_answers: 0, model: null } as const;

function wantedSettings(row: WorkspaceSettings, input: UpdateInput): WorkspaceSettings {
  const { name, dataPolicy: { contentStorage, retentionDays, redactSecrets } = {} } = input;
  return {
    name: name ?? row.name,
    content_storage: contentStorage ?? row.content_storage,
    retention_days: retentionDays === undefined ? row.retention_days : retentionDays,
    redact_secrets: toFlag(redactSecrets, row.redact_secrets),
    ask_owners_after_minutes:
      input.attention?.askOwnersAfterMinutes ?? row.ask_owners_after_minutes,
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

/** The stored form of a switch; the known value if the request does not contain it. */
function toFlag(wanted: boolean | undefined, known: 0 | 1): 0 | 1 {
  if (wanted === undefined) return known;
  return wanted ? 1 : 0;
}

/** Each setting that differs, with its old and its new value. */
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

import {
  type endpoints,
  JOB_TEMPLATES_MAX,
  type RequestInput,
  TEMPLATE_VALUES_CHARS_MAX,
} from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import { HubError, invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Database } from '../db/engine.ts';
import { upsertRow } from '../db/row-write.ts';
import { requireRepository } from '../repositories/read.ts';
import { countTemplates, hasTemplate, type TemplateRow } from './store.ts';

type SaveInput = RequestInput<typeof endpoints.jobTemplates.save.request>;

/**
 * Saves the values of a template, in place of those that its name had.
 *
 * @throws HubError REPO_NOT_FOUND, INVALID_REQUEST, LIMIT_REACHED
 */
export function saveTemplate(
  { database }: { database: Database },
  principal: Principal,
  { workspaceId, name, values }: SaveInput,
): Promise<TemplateRow> {
  const text = JSON.stringify(values);
  if (text.length > TEMPLATE_VALUES_CHARS_MAX) {
    throw invalidField('/values', `exceed ${TEMPLATE_VALUES_CHARS_MAX} characters as JSON`);
  }
  return database.write(workspaceId, async (tx) => {
    if (values.repoId !== undefined) await requireRepository(tx, workspaceId, values.repoId);
    const isNew = !(await hasTemplate(tx, workspaceId, name));
    if (isNew && (await countTemplates(tx, workspaceId)) >= JOB_TEMPLATES_MAX) {
      const limit = `A workspace has at most ${JOB_TEMPLATES_MAX} templates`;
      throw new HubError('LIMIT_REACHED', `${limit}: remove one first, or replace one.`);
    }
    const { principalId, displayName } = principal;
    const row: TemplateRow = {
      workspace_id: workspaceId,
      name,
      template_values: text,
      updated_at: tx.nowMs,
      updated_by: principalId,
      updated_by_name: displayName,
    };
    await upsertRow(tx, 'job_templates', row, ['workspace_id', 'name']);
    await appendAudit(tx, {
      workspaceId,
      actor: principalId,
      action: 'job-template.save',
      subject: name,
      data: { isNew },
    });
    return row;
  });
}

import { type RowOf, table } from './table.ts';

const job_templates = table('workspace_id, name', {
  workspace_id: 'TEXT NOT NULL',
  name: 'TEXT NOT NULL',
  /** JSON, as on the wire. */
  template_values: 'TEXT NOT NULL',
  updated_at: 'BIGINT NOT NULL',
  updated_by: 'TEXT NOT NULL',
  updated_by_name: 'TEXT',
});
export type JobTemplatesTable = RowOf<typeof job_templates>;

export const jobTemplateTables = { job_templates };

/** The table of templates of jobs; `tables.ts` has the conventions. */

export interface JobTemplatesTable {
  workspace_id: string;
  name: string;
  /** JSON, as on the wire. */
  template_values: string;
  updated_at: number;
  updated_by: string;
  updated_by_name: string | null;
}

export interface JobTemplateSchema {
  job_templates: JobTemplatesTable;
}

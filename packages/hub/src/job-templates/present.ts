import type { JobTemplate, JobTemplateValues } from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import type { TemplateRow } from './store.ts';

export function presentTemplate(row: TemplateRow): JobTemplate {
  return {
    name: row.name,
    // `save.ts` serialized it from a request that passed the schema.
    values: JSON.parse(row.template_values) as JobTemplateValues,
    updatedAt: timestampOf(row.updated_at),
    updatedBy: { id: row.updated_by, name: row.updated_by_name },
  };
}

/**
 * A column for lists of jobs, which read no evidence. Rows that were written earlier keep null: no
 * agent judged them.
 */
export function jobVerdicts(): string[] {
  return ['ALTER TABLE jobs ADD COLUMN verdict TEXT'];
}

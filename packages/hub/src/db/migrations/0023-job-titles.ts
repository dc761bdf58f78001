/**
 * Columns for lists of jobs, which then read no prompt and no evidence. Rows that were written
 * earlier keep null: their titles are cut from their prompts when they are read.
 */
export function jobTitles(): string[] {
  return ['ALTER TABLE jobs ADD COLUMN title TEXT', 'ALTER TABLE jobs ADD COLUMN changed INTEGER'];
}

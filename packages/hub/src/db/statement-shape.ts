const readShape = /^\s*SELECT\b/i;

/** Whether a statement surely writes nothing. Locks on rows are no writes: a rollback ends them. */
export function isRead(sql: string): boolean {
  return readShape.test(sql);
}

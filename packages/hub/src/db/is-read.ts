const readPattern = /^\s*SELECT\b/i;

/** Whether a statement certainly writes nothing. Row locks do not count: a rollback ends them. */
export function isRead(sql: string): boolean {
  return readPattern.test(sql);
}

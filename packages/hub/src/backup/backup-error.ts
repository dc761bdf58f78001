/** The reason why a backup, a restore or a check is refused: one sentence that says what to do. */
export class BackupError extends Error {}

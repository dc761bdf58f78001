/** A condition of the machine that stops the start; the message is the whole explanation. */
export class LocalPostgresError extends Error {}

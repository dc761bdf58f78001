/** A condition of the machine that prevents the start. The message is the complete explanation. */
export class LocalPostgresError extends Error {}

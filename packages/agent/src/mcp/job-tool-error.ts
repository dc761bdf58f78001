/** A tool of a job refuses a call; the message says what to do. */
export class JobToolError extends Error {
  override name = 'JobToolError';
}

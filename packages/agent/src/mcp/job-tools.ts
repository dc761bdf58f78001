/**
 * The tools of a job: the MCP server that a coding tool starts, and the question that any command
 * asks. Apart from the agent itself, so that they start quickly.
 */
export { ResultFileError } from '../job/result-file.ts';
export { askPerson, type PersonAnswer, type PersonQuestion } from './ask-person.ts';
export { type JobContext, NotInJobError, openJobContext } from './job-context.ts';
export { serveJobTools } from './serve-job-tools.ts';
export { jobTools } from './tool-table.ts';

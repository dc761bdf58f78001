/** The command of the MCP server that a tool starts for its job: `signalbox mcp`. */
export interface JobServer {
  file: string;
  args: readonly string[];
}

/** The name under which tools know the server. The permission rules allow its tools by it. */
export const JOB_SERVER_NAME = 'signalbox';

/** A busy machine takes its time to start a process. */
export const SERVER_START_SECONDS = 60;

/** Lines of a prompt about the tools of the server. Some tools hide them behind a search. */
export const jobServerLines: readonly string[] = [
  `Tools of this job, from the MCP server "${JOB_SERVER_NAME}":`,
  '- ask_person asks a person and waits for the answer. Use it for what only a person can decide.',
  '  If it tells you to end your turn, do so: the job continues when the answer is there.',
  '- get_context reads notes and documents for this job; list_run_jobs lists related jobs.',
  '- report_progress, report_evidence (checks that you ran), report_finding (what is wrong in the',
  '  code that you review) and attach_file show people your work.',
  '- spawn_job enqueues further work; finish says how the job ends: done, blocked or failed.',
];

/** The environment of the server: what it sends is redacted, so it has to know the secrets. */
export function serverVariables(env: NodeJS.ProcessEnv): { name: string; value: string }[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value }],
  );
}

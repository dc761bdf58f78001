import { JOB_SERVER_NAME, type JobServer, SERVER_START_SECONDS } from './job-server.ts';
import { objectOf, parseObject } from './json-fields.ts';

/** A call of the server takes as long as a person is waited for, and answers after that. */
const CALL_MARGIN_SECONDS = 60;

/** Codex's settings of the server of a job (`mcp_servers.NAME` of its configuration). */
export function codexServerSettings(
  { file, args }: JobServer,
  { env, holdMs }: { env: NodeJS.ProcessEnv; holdMs: number },
) {
  return {
    command: file,
    args,
    // Names only: Codex gives its own values of these variables, and few others.
    env_vars: Object.keys(env),
    startup_timeout_sec: SERVER_START_SECONDS,
    tool_timeout_sec: Math.ceil(holdMs / 1_000) + CALL_MARGIN_SECONDS,
    // The model is called when the tools are there: it may ask in its first turn.
    startup_readiness: 'catalog',
    required: true,
    // The tools reach no further than the job.
    default_tools_approval_mode: 'approve',
  };
}

/** The value of `CODEX_CONFIG`, by which the ACP adapter of Codex takes settings. */
export function codexConfigWith(
  server: JobServer,
  host: { env: NodeJS.ProcessEnv; holdMs: number },
): string {
  const own = parseObject(host.env.CODEX_CONFIG ?? '') ?? {};
  const settings = codexServerSettings(server, host);
  const servers = { ...objectOf(own.mcp_servers), [JOB_SERVER_NAME]: settings };
  return JSON.stringify({ ...own, mcp_servers: servers });
}

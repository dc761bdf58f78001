import { withoutGitVariables } from '../git/git.ts';
import { MARK_VARIABLE } from '../process/process-tree.ts';
import type { JobDirectory } from '../state-directory.ts';
import type { ClaimedJob } from './attempt.ts';

/** Settings of the agent and of a hub on the same machine: both may hold tokens. */
const privatePrefixes = ['SIGNALBOX_', 'SVC_'];

/**
 * The person's environment without what belongs to the agent: its settings, every variable that
 * holds its token, and git's variables, which would point the job at another repository.
 */
export function cleanEnvironment(
  env: NodeJS.ProcessEnv,
  agentToken: string | undefined,
): NodeJS.ProcessEnv {
  const kept = Object.entries(withoutGitVariables(env)).filter(
    ([name]) => !privatePrefixes.some((prefix) => name.startsWith(prefix)),
  );
  return withoutToken(Object.fromEntries(kept), agentToken);
}

/** Also after hooks have changed the environment: the agent's token reaches no tool. */
export function withoutToken(
  env: NodeJS.ProcessEnv,
  agentToken: string | undefined,
): NodeJS.ProcessEnv {
  if (agentToken === undefined || agentToken === '') return env;
  return Object.fromEntries(
    Object.entries(env).filter(([, value]) => !value?.includes(agentToken)),
  );
}

/**
 * What hooks and the tool are told about their job. `SIGNALBOX_JOB_TOKEN` may read and write this
 * job alone and dies with its lease.
 */
export function jobVariables(options: {
  claimed: ClaimedJob;
  directory: JobDirectory;
  baseUrl: string;
  branch: string;
  mark: string;
}): Record<string, string> {
  const { claimed, directory } = options;
  const { job } = claimed;
  return {
    SIGNALBOX_BASE_URL: options.baseUrl,
    ...(claimed.jobToken === undefined ? {} : { SIGNALBOX_JOB_TOKEN: claimed.jobToken }),
    SIGNALBOX_WORKSPACE_ID: claimed.workspaceId,
    SIGNALBOX_AGENT_ID: claimed.agentId,
    SIGNALBOX_REPO_ID: job.repoId,
    ...(job.runId === null ? {} : { SIGNALBOX_RUN_ID: job.runId }),
    SIGNALBOX_JOB_ID: claimed.jobId,
    SIGNALBOX_ATTEMPT: String(claimed.claimGeneration),
    SIGNALBOX_KIND: job.kind,
    SIGNALBOX_ROLE: job.role,
    SIGNALBOX_BRANCH: options.branch,
    SIGNALBOX_WORKTREE: directory.worktree,
    SIGNALBOX_PROMPT_FILE: directory.promptFile,
    SIGNALBOX_RESULT_FILE: directory.resultFile,
    [MARK_VARIABLE]: options.mark,
  };
}

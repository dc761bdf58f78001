import { MARK_VARIABLE } from '../process/process-tree.ts';
import type { JobDirectory } from '../state-directory.ts';
import type { ClaimedJob } from './attempt.ts';

/**
 * Variables that describe the job to hooks and the tool. `SIGNALBOX_JOB_TOKEN` grants access to
 * this job only and expires with its lease.
 */
export function jobVariables(options: {
  claimed: ClaimedJob;
  directory: JobDirectory;
  baseUrl: string;
  branch: string;
  mark: string;
  holdMs: number;
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
    SIGNALBOX_REPORT_FILE: directory.reportFile,
    SIGNALBOX_HOLD_MS: String(options.holdMs),
    [MARK_VARIABLE]: options.mark,
  };
}

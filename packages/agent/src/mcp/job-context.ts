import { dirname } from 'node:path';
import { type Client, createClient } from '@signalbox/sdk';
import { createRedactor, type Redactor } from '../job/redaction.ts';

/** The job that a process works on, by the variables that the agent gives to its tool. */
export interface JobContext {
  /** It has the job's token, which reaches this job and its run only. */
  readonly client: Client;
  readonly ids: { workspaceId: string; jobId: string };
  /** Fences writes: an attempt that has lost the job may no longer write. */
  readonly claim: { agentId: string; claimGeneration: number };
  readonly reportFile: string;
  /** Directories whose files may be attached. */
  readonly roots: readonly string[];
  /** How long a question waits for its answer before the tool is told to end. */
  readonly holdMs: number;
  /** The review comments that the tool is to answer. */
  readonly comments: readonly number[];
  readonly redactor: Redactor;
}

/** The process does not run in a job; the message says what is missing. */
export class NotInJobError extends Error {
  override name = 'NotInJobError';
}

const HOLD_MS_DEFAULT = 5 * 60_000;

/**
 * Reads the job's variables.
 *
 * @throws {NotInJobError}
 */
export function openJobContext(env: NodeJS.ProcessEnv): JobContext {
  const need = (name: string): string => {
    const value = env[name];
    if (value !== undefined && value !== '') return value;
    throw new NotInJobError(
      `${name} is not set. This command works in a job only: an agent sets the variable for the ` +
        'tool that it runs.',
    );
  };
  const token = need('SIGNALBOX_JOB_TOKEN');
  const redactor = createRedactor([token]);
  redactor.learn(env);
  const holdMs = Number(env.SIGNALBOX_HOLD_MS);
  const resultFile = env.SIGNALBOX_RESULT_FILE;
  const baseUrl = need('SIGNALBOX_BASE_URL');
  return {
    client: createClient({ baseUrl, token, userAgent: 'signalbox-job-tools' }),
    ids: { workspaceId: need('SIGNALBOX_WORKSPACE_ID'), jobId: need('SIGNALBOX_JOB_ID') },
    claim: {
      agentId: need('SIGNALBOX_AGENT_ID'),
      claimGeneration: Number(need('SIGNALBOX_ATTEMPT')),
    },
    reportFile: need('SIGNALBOX_REPORT_FILE'),
    roots: [need('SIGNALBOX_WORKTREE'), ...(resultFile ? [dirname(resultFile)] : [])],
    holdMs: Number.isSafeInteger(holdMs) && holdMs > 0 ? holdMs : HOLD_MS_DEFAULT,
    comments: numbersOf(env.SIGNALBOX_COMMENTS),
    redactor,
  };
}

function numbersOf(list = ''): number[] {
  return list
    .split(',')
    .map(Number)
    .filter(Number.isSafeInteger)
    .filter((number) => number > 0);
}

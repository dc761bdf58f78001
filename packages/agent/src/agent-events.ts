import type { Job, JobOutcome, Verdict } from '@signalbox/contract';
import type { StopReason } from './job/attempt.ts';

/** Events that every agent reports, independent of its kind of jobs. */
export type LifecycleEvent =
  | { type: 'online'; agentId: string }
  | { type: 'hub-unreachable'; message: string }
  | { type: 'hub-back' }
  /** `byHub`: a person requested it in the console and can revoke it. */
  | { type: 'draining'; byHub: boolean }
  | { type: 'resumed' }
  /**
   * The agent claims nothing until then: for an account of a tool, because its provider does not
   * serve it, or for the repository at a path, because its set-up fails. `isPartial`: it claims
   * for its other accounts and repositories.
   */
  | {
      type: 'paused';
      code: string;
      message: string;
      untilMs: number;
      tool?: string;
      repository?: string;
      isPartial: boolean;
    }
  | { type: 'unpaused' }
  /** A person requested it in the console. `returnsJobs`: the held jobs go back to the queue. */
  | { type: 'stopping'; returnsJobs: boolean }
  | { type: 'offline' };

/** Events of a running agent, for display. */
export type AgentEvent =
  | LifecycleEvent
  | { type: 'job-claimed'; job: Job; attempt: number }
  | { type: 'job-progress'; jobId: string; message: string }
  /** The work must stop; its process is being ended. */
  | { type: 'job-stopping'; jobId: string; reason: StopReason; why: string }
  /** The work has ended. If there is an outcome, it is stored in the outbox. */
  | {
      type: 'job-finished';
      jobId: string;
      attempt: number;
      outcome: JobOutcome | null;
      message: string;
      commitSha: string | null;
      branch: string | null;
      verdict: Verdict | null;
    }
  /** A member asks for the patch of an ended job. */
  | { type: 'patch-asked'; jobId: string; askedBy: string }
  | { type: 'patch-shared'; jobId: string }
  | { type: 'patch-refused'; jobId: string; message: string }
  | { type: 'result-accepted'; jobId: string; attempt: number; status: string }
  | { type: 'result-refused'; jobId: string; attempt: number; code: string; message: string };

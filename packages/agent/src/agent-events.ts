import type { Job, JobOutcome } from '@signalbox/contract';
import type { StopReason } from './job/attempt.ts';

/** What happens in an agent, for whoever shows it to people. */
export type AgentEvent =
  | { type: 'online'; agentId: string }
  | { type: 'hub-unreachable'; message: string }
  | { type: 'hub-back' }
  | { type: 'job-claimed'; job: Job; attempt: number }
  | { type: 'job-progress'; jobId: string; message: string }
  /** The work has to stop; the process is being ended. */
  | { type: 'job-stopping'; jobId: string; reason: StopReason; why: string }
  /** The work is over and, if there is an outcome, safe in the outbox. */
  | {
      type: 'job-finished';
      jobId: string;
      attempt: number;
      outcome: JobOutcome | null;
      message: string;
      commitSha: string | null;
      branch: string | null;
    }
  | { type: 'result-accepted'; jobId: string; attempt: number; status: string }
  | { type: 'result-refused'; jobId: string; attempt: number; code: string; message: string }
  /** `byHub`: a person ordered it in the console and may take it back. */
  | { type: 'draining'; byHub: boolean }
  | { type: 'resumed' }
  | { type: 'offline' };

/** Where an agent writes what is of use to whoever looks for a fault. */
export interface AgentLogger {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

export const silentLogger: AgentLogger = { info() {}, warn() {}, error() {} };

import type { CloudAiJob, CloudAiJobOutcome, Usage } from '@signalbox/contract';
import type { Client } from '@signalbox/sdk';
import type { LifecycleEvent } from '../agent-events.ts';
import type { Clock } from '../clock.ts';
import type { StopReason } from '../job/attempt.ts';
import type { CloudAiProvider } from './cloud-ai-provider.ts';

/** The part of the SDK's client that runs model calls. */
export type CloudAiHubClient = Pick<Client, 'agents' | 'cloudAiJobs'>;

/** Options of an executor of cloud AI jobs; defaults are given at each field. */
export interface CloudAiAgentOptions {
  baseUrl: string;
  /** Token of a person or a service principal. Absent: the hub runs in development mode. */
  token?: string | undefined;
  workspaceId: string;
  displayName: string;
  provider: CloudAiProvider;
  /** Models that the executor serves. The first one also runs jobs that name no model. */
  models: readonly [string, ...string[]];
  /** Absent: jobs of any kind. */
  kinds?: readonly string[] | undefined;
  /** The executor's own directory, for its fingerprint. Each directory serves one executor. */
  stateDir: string;
  /** Limit of concurrent model calls; default 1. */
  concurrency?: number | undefined;
  /** Default 60,000. The lease is renewed at every third of this time. */
  leaseMs?: number | undefined;
  /** Time limit of one job, including all its calls and pauses; default 10 minutes. */
  jobTimeLimitMs?: number | undefined;
  /** Default: the model's limit, as far as the provider's library knows it. */
  outputTokensMax?: number | undefined;
  /** Secrets, such as the provider's key, to redact from every text that leaves this process. */
  secrets?: readonly string[] | undefined;
  onEvent?: ((event: CloudAiEvent) => void) | undefined;
  client?: CloudAiHubClient | undefined;
  clock?: Clock | undefined;
  /** Source of jitter; returns values in [0, 1). */
  random?: (() => number) | undefined;
}

export const cloudAiDefaults = {
  concurrency: 1,
  // Model calls are short, so a short lease lets another executor take over soon after a crash.
  leaseMs: 60_000,
  jobTimeLimitMs: 10 * 60_000,
} as const;

/** Events of a running executor of cloud AI jobs, for display. */
export type CloudAiEvent =
  | LifecycleEvent
  | { type: 'job-claimed'; job: CloudAiJob; attempt: number }
  /** A call failed temporarily, or its answer was not usable. */
  | { type: 'call-retry'; cloudAiJobId: string; message: string; delayMs: number }
  /** The job's calls are being ended without a result. */
  | { type: 'job-stopping'; cloudAiJobId: string; reason: StopReason; why: string }
  | {
      type: 'job-finished';
      cloudAiJobId: string;
      /** Null: the job was released, or its lease was lost. */
      outcome: CloudAiJobOutcome | null;
      message: string;
      usage: Usage | null;
    }
  | { type: 'result-accepted'; cloudAiJobId: string; status: string }
  | { type: 'result-refused'; cloudAiJobId: string; code: string; message: string };

/** A running executor of cloud AI jobs. */
export interface RunningCloudAiAgent {
  heldJobIds(): string[];
  /** Stops claiming, finishes held jobs, shuts down. */
  drain(): Promise<void>;
  /** Shuts down now: aborts the calls in progress and releases their jobs. May follow `drain`. */
  stop(): Promise<void>;
  /** Resolves after shutdown; rejects when it cannot continue (token or provider key rejected). */
  readonly done: Promise<void>;
}

/** The provider rejects all calls of this executor. Another executor may still serve the jobs. */
export class CloudAiProviderRefusedError extends Error {
  override readonly name = 'CloudAiProviderRefusedError';
}

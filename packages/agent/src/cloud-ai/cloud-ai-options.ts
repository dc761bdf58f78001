import type { CloudAiJob, CloudAiJobOutcome, endpoints, Usage } from '@signalbox/contract';
import type { AgentEvent, AgentLogger } from '../agent-events.ts';
import type { Clock } from '../clock.ts';
import type { Call, HubClient } from '../hub-client.ts';
import type { StopReason } from '../job/attempt.ts';
import type { CloudAiProvider } from './cloud-ai-provider.ts';

/** The part of the SDK's client that an executor of cloud AI jobs uses. */
export interface CloudAiHubClient extends Pick<HubClient, 'agents'> {
  cloudAiJobs: {
    claimNext: Call<typeof endpoints.cloudAiJobs.claimNext>;
    heartbeat: Call<typeof endpoints.cloudAiJobs.heartbeat>;
    complete: Call<typeof endpoints.cloudAiJobs.complete>;
  };
}

/** What an executor of cloud AI jobs is started with. */
export interface CloudAiAgentOptions {
  baseUrl: string;
  /** The person's or the service principal's. Absent: a hub in development mode. */
  token?: string | undefined;
  workspaceId: string;
  displayName: string;
  provider: CloudAiProvider;
  /** What it serves; the first also does jobs that name no model. */
  models: readonly [string, ...string[]];
  /** Absent: jobs of any kind. */
  kinds?: readonly string[] | undefined;
  /** The executor's own directory, for its fingerprint; one executor a directory. */
  stateDir: string;
  /** Model calls at a time; default 1. */
  concurrency?: number | undefined;
  /** Default 60,000. Renewed every third of it. */
  leaseMs?: number | undefined;
  /** For one job, all its calls and pauses together; default 10 minutes. */
  jobTimeLimitMs?: number | undefined;
  /** Default: the most that the provider's library knows the model to give. */
  outputTokensMax?: number | undefined;
  /** Never shown in a text that leaves this process, such as the provider's key. */
  secrets?: readonly string[] | undefined;
  onEvent?: ((event: CloudAiEvent) => void) | undefined;
  logger?: AgentLogger | undefined;
  client?: CloudAiHubClient | undefined;
  clock?: Clock | undefined;
  /** Jitter; in [0, 1). */
  random?: (() => number) | undefined;
}

export const cloudAiDefaults = {
  concurrency: 1,
  // Model calls are short, and a dead executor should not hold them up for long.
  leaseMs: 60_000,
  jobTimeLimitMs: 10 * 60_000,
} as const;

/** What happens in an executor, for whoever shows it to people. */
export type CloudAiEvent =
  | Extract<
      AgentEvent,
      { type: 'online' | 'hub-unreachable' | 'hub-back' | 'draining' | 'resumed' | 'offline' }
    >
  | { type: 'job-claimed'; job: CloudAiJob; attempt: number }
  /** A call has failed in passing, or its answer could not be used. */
  | { type: 'call-retry'; cloudAiJobId: string; message: string; delayMs: number }
  /** Its calls end without a result. */
  | { type: 'job-stopping'; cloudAiJobId: string; reason: StopReason; why: string }
  | {
      type: 'job-finished';
      cloudAiJobId: string;
      /** Null: the job was given back, or is lost. */
      outcome: CloudAiJobOutcome | null;
      message: string;
      usage: Usage | null;
    }
  | { type: 'result-accepted'; cloudAiJobId: string; status: string }
  | { type: 'result-refused'; cloudAiJobId: string; code: string; message: string };

/** An executor at work. */
export interface RunningCloudAiAgent {
  heldJobIds(): string[];
  /** Claims nothing more, finishes what is held, leaves. */
  drain(): Promise<void>;
  /** Leaves now: ends the calls under way and gives their jobs back. May follow `drain`. */
  stop(): Promise<void>;
  /** Resolves when it has left; rejects when it cannot go on (a dead token, a refused key). */
  readonly done: Promise<void>;
}

/** The provider takes no call of this executor; another one may serve the jobs. */
export class CloudAiProviderRefusedError extends Error {
  override readonly name = 'CloudAiProviderRefusedError';
}

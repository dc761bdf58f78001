import type { AgentCommand } from '@signalbox/contract';
import manifest from '../../package.json' with { type: 'json' };
import type { Clock } from '../clock.ts';
import type { Redactor } from '../job/redaction.ts';
import type { AgentControl } from '../loops/agent-loops.ts';
import { createBackoff } from '../loops/backoff.ts';
import { type ClaimCall, type ClaimLoop, startClaimLoop } from '../loops/claim-loop.ts';
import { type PresenceLoop, startPresenceLoop } from '../loops/presence-loop.ts';
import { type ClaimedCloudAiJob, type HeldCloudAiJob, holdCloudAiJob } from './cloud-ai-held.ts';
import {
  type CloudAiAgentOptions,
  type CloudAiEvent,
  type CloudAiHubClient,
  cloudAiDefaults,
} from './cloud-ai-options.ts';

/** What decides whether the executor claims. */
export type CloudAiControl = AgentControl;

/** The cloud AI jobs that this executor holds now. */
export interface HeldCloudAiJobs {
  ids(): string[];
  stopAll(): void;
  /** Resolves when none is held. */
  released(): Promise<void>;
}

export interface CloudAiLoopsOptions {
  options: CloudAiAgentOptions;
  control: CloudAiControl;
  client: CloudAiHubClient;
  machineFingerprint: string;
  clock: Clock;
  random: () => number;
  redactor: Redactor;
  emit(event: CloudAiEvent): void;
  onUnserved(message: string): void;
  /** The executor cannot go on: a dead token, an unknown workspace, a defect. */
  onFault(error: unknown): void;
}

/** Starts the loops of an executor and ties them together. */
export function startCloudAiLoops(parts: CloudAiLoopsOptions): {
  presence: PresenceLoop;
  claims: ClaimLoop;
  held: HeldCloudAiJobs;
} {
  const { options, control, client, clock, random, emit, onFault } = parts;
  const { workspaceId, displayName, models } = options;
  const concurrency = options.concurrency ?? cloudAiDefaults.concurrency;
  const held = new Map<string, HeldCloudAiJob>();

  function begin(claimed: ClaimedCloudAiJob): void {
    const { cloudAiJobId, claimGeneration: attempt, job } = claimed;
    emit({ type: 'job-claimed', job, attempt });
    const key = `${cloudAiJobId} ${attempt}`;
    const heldJob = holdCloudAiJob({ ...parts, claimed, onDefect: onFault });
    held.set(key, heldJob);
    void heldJob.released.then(() => {
      held.delete(key);
      claims.wake();
    });
  }

  const presence = startPresenceLoop({
    ...{ client, workspaceId, displayName, clock, emit, onDefect: onFault },
    machineFingerprint: parts.machineFingerprint,
    agentVersion: manifest.version,
    // It serves no repository: jobs that need a clone are not for it.
    capabilities: {
      models: [...models],
      maxConcurrentJobs: concurrency,
      reposAllowed: [],
      canWrite: false,
      canUseNetwork: true,
      labels: { provider: options.provider.name },
    },
    backoff: createBackoff(random),
    status: () => (control.isLeaving || control.isDrainedByHub ? 'draining' : 'online'),
    onAgentId(agentId) {
      if (control.agentId === agentId) return;
      control.agentId = agentId;
      emit({ type: 'online', agentId });
      claims.wake();
    },
    onCommands: applyCommands,
    onRejected: onFault,
  });
  const claims = startClaimLoop({
    ...{ clock, random, onDefect: onFault },
    claim: createCloudAiClaim(parts, begin),
    leaseMs: options.leaseMs ?? cloudAiDefaults.leaseMs,
    backoff: createBackoff(random),
    agentId: () => control.agentId,
    mayClaim: () => !control.isLeaving && !control.isDrainedByHub && held.size < concurrency,
    onUnknownAgent: () => presence.wake(),
  });

  function applyCommands(commands: readonly AgentCommand[]): void {
    for (const { command, jobId } of commands) {
      if (command === 'cancel-job') cancel(held, jobId);
      else setDrained(command === 'drain');
    }
  }

  function setDrained(isDrained: boolean): void {
    if (control.isDrainedByHub === isDrained) return;
    control.isDrainedByHub = isDrained;
    emit(isDrained ? { type: 'draining', byHub: true } : { type: 'resumed' });
    presence.wake();
    claims.wake();
  }

  return { presence, claims, held: viewOf(held) };
}

function cancel(held: ReadonlyMap<string, HeldCloudAiJob>, cloudAiJobId: string | undefined): void {
  for (const job of held.values()) {
    if (job.claimed.cloudAiJobId === cloudAiJobId) job.stop('canceled', 'The job was canceled.');
  }
}

function viewOf(held: ReadonlyMap<string, HeldCloudAiJob>): HeldCloudAiJobs {
  return {
    ids: () => [...held.values()].map(({ claimed }) => claimed.cloudAiJobId),
    stopAll() {
      for (const job of held.values()) job.stop('agent_stopped', 'The executor was stopped.');
    },
    async released() {
      await Promise.all([...held.values()].map(({ released }) => released));
    },
  };
}

/** Claims from the queue of cloud AI jobs, for the claim loop. */
function createCloudAiClaim(
  { client, options }: CloudAiLoopsOptions,
  onClaimed: (claimed: ClaimedCloudAiJob) => void,
): ClaimCall {
  const { workspaceId, models, kinds } = options;
  return async ({ sentAtMs, ...request }, call) => {
    const wanted = { models: [...models], ...(kinds === undefined ? {} : { kinds: [...kinds] }) };
    const body = { workspaceId, ...wanted, ...request };
    const answer = await client.cloudAiJobs.claimNext(body, call);
    const { cloudAiJobId, cloudAiJob: job, claimGeneration } = answer;
    if (cloudAiJobId === null || job === null) return false;
    onClaimed({
      ...{ workspaceId, agentId: request.agentId, cloudAiJobId, job, claimSentAtMs: sentAtMs },
      claimGeneration: claimGeneration ?? job.attempt,
    });
    return true;
  };
}

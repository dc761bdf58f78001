import type { AgentCapabilities, AgentCommand } from '@signalbox/contract';
import manifest from '../../package.json' with { type: 'json' };
import type { AgentEvent, AgentLogger } from '../agent-events.ts';
import { type AgentOptions, agentDefaults } from '../agent-options.ts';
import type { HubClient } from '../hub-client.ts';
import { createHeldJobs, type HeldJobs } from '../job/held-jobs.ts';
import { createJobClaim } from '../job/job-calls.ts';
import type { JobSettings } from '../job/job-work.ts';
import { createBackoff } from './backoff.ts';
import { type ClaimLoop, startClaimLoop } from './claim-loop.ts';
import type { Outbox, OutboxEntry } from './outbox.ts';
import type { Settlement } from './outbox-delivery.ts';
import { type OutboxLoop, startOutboxLoop } from './outbox-loop.ts';
import { type PresenceLoop, startPresenceLoop } from './presence-loop.ts';

/** What decides whether the agent claims; read by the loops, written by those who give orders. */
export interface AgentControl {
  /** The person, or whoever runs the agent, has told it to go. */
  isLeaving: boolean;
  /** A person has ordered it in the console and may take it back. */
  isDrainedByHub: boolean;
  /** Null until the first heartbeat was answered. */
  agentId: string | null;
}

export interface AgentLoops {
  presence: PresenceLoop;
  claims: ClaimLoop;
  outbox: OutboxLoop;
  heldJobs: HeldJobs;
}

export interface LoopsOptions {
  options: AgentOptions;
  settings: JobSettings;
  store: Outbox;
  control: AgentControl;
  client: HubClient;
  machineFingerprint: string;
  logger: AgentLogger;
  emit(event: AgentEvent): void;
  /** The agent cannot go on: a dead token, an unknown workspace, a defect. */
  onFault(error: unknown): void;
}

/** Starts the loops of an agent and ties them together. */
export function startLoops(parts: LoopsOptions): AgentLoops {
  const { options, settings, control, client, emit, onFault } = parts;
  const { clock, state } = settings;
  const { workspaceId } = options;
  const random = options.random ?? Math.random;
  const leaseMs = options.leaseMs ?? agentDefaults.leaseMs;
  const jobsMax = options.maxConcurrentJobs ?? agentDefaults.maxConcurrentJobs;
  const shared = { client, workspaceId, clock, emit, onDefect: onFault };

  const outbox = startOutboxLoop({
    ...{ ...shared, state, outbox: parts.store },
    backoff: createBackoff(random),
    onSettled: (entry, settlement) => tellSettlement(parts, entry, settlement),
  });
  const heldJobs = createHeldJobs({
    ...{ ...shared, options, settings, outbox, random, leaseMs },
    onCommands: applyCommands,
    onRoom: () => claims.wake(),
  });
  const presence = startPresenceLoop({
    ...{ ...shared, agentVersion: manifest.version, displayName: options.displayName },
    machineFingerprint: parts.machineFingerprint,
    capabilities: capabilitiesOf(options, jobsMax),
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
    ...{ clock, leaseMs, random, onDefect: onFault },
    claim: createJobClaim({
      ...{ client, workspaceId },
      repoIds: options.repositories.map(({ repoId }) => repoId),
      onClaimed: heldJobs.begin,
    }),
    backoff: createBackoff(random),
    agentId: () => control.agentId,
    mayClaim: () => !control.isLeaving && !control.isDrainedByHub && heldJobs.count() < jobsMax,
    onUnknownAgent: () => presence.wake(),
  });

  function applyCommands(commands: readonly AgentCommand[]): void {
    for (const { command, jobId } of commands) {
      if (command === 'cancel-job') {
        if (jobId !== undefined) heldJobs.cancel(jobId);
      } else if (control.isDrainedByHub !== (command === 'drain')) {
        control.isDrainedByHub = command === 'drain';
        emit(control.isDrainedByHub ? { type: 'draining', byHub: true } : { type: 'resumed' });
        presence.wake();
        claims.wake();
      }
    }
  }

  return { presence, claims, outbox, heldJobs };
}

function tellSettlement(parts: LoopsOptions, entry: OutboxEntry, settlement: Settlement): void {
  const { jobId, claimGeneration } = entry.attempt;
  const common = { jobId, attempt: claimGeneration };
  if (settlement.accepted) {
    parts.emit({ type: 'result-accepted', ...common, status: settlement.status });
    return;
  }
  const { code, message } = settlement;
  parts.logger.warn('The hub refused a result.', { ...common, code });
  parts.emit({ type: 'result-refused', ...common, code, message });
}

function capabilitiesOf(options: AgentOptions, maxConcurrentJobs: number): AgentCapabilities {
  return {
    executionModes: ['cli'],
    canWrite: true,
    canUseNetwork: true,
    ...options.capabilities,
    reposAllowed: options.repositories.map(({ repoId }) => repoId),
    labels: { ...options.capabilities?.labels, ...options.labels },
    maxConcurrentJobs,
  };
}

import {
  AGENT_HEARTBEAT_INTERVAL_MS,
  type AgentCapabilities,
  type AgentCommand,
  type AgentStatus,
} from '@signalbox/contract';
import { VERSION } from '@signalbox/contract/version';
import type { CallOptions } from '@signalbox/sdk';
import type { AgentEvent } from '../agent-events.ts';
import { type Clock, untilAborted } from '../clock.ts';
import { type HubClient, judgeFailure } from '../hub-client.ts';
import type { Backoff } from './backoff.ts';
import { createChangeSignal, type Loop, startLoop } from './loop.ts';

const CALL_TIMEOUT_MS = 10_000;
/** The hub may request any interval; one above a minute would make the agent seem offline. */
const INTERVAL_MS_MIN = 500;
const INTERVAL_MS_MAX = 60_000;

export interface PresenceOptions {
  client: { agents: Pick<HubClient['agents'], 'heartbeat'> };
  workspaceId: string;
  displayName: string;
  machineFingerprint: string;
  /** Called for every heartbeat. */
  capabilities(): AgentCapabilities;
  clock: Clock;
  backoff: Backoff;
  /** Called for every heartbeat. */
  status(): AgentStatus;
  /** The last command that was obeyed; null if none was. */
  commandNumber(): number | null;
  onAgentId(agentId: string): void;
  onCommands(commands: readonly AgentCommand[]): void;
  /** The hub rejects this agent's heartbeats permanently: token rejected, or workspace unknown. */
  onRejected(error: unknown): void;
  emit(event: Extract<AgentEvent, { type: 'hub-unreachable' | 'hub-back' }>): void;
  onDefect(error: unknown): void;
}

export interface PresenceLoop extends Loop {
  /** Resolves when a heartbeat that began after this call was answered, or when `signal` fires. */
  acknowledged(signal: AbortSignal): Promise<void>;
  /** Reports once that the agent is offline. Call it after the loop has stopped. */
  leave(): Promise<void>;
}

/**
 * Sends the agent's heartbeats and receives the hub's commands. It shares nothing with the work on
 * jobs, so no job can make its agent look offline. It continues while the agent drains, because a
 * silent agent would lose the jobs that it is about to finish.
 */
export function startPresenceLoop(options: PresenceOptions): PresenceLoop {
  const { client, clock, backoff } = options;
  let isReachable = true;
  let roundsBegun = 0;
  let roundAnswered = 0;
  const changes = createChangeSignal();

  async function send(status: AgentStatus, callOptions: CallOptions) {
    const { workspaceId, displayName, machineFingerprint } = options;
    const capabilities = options.capabilities();
    const commandNumber = options.commandNumber();
    return await client.agents.heartbeat(
      {
        workspaceId,
        displayName,
        machineFingerprint,
        status,
        capabilities,
        agentVersion: VERSION,
        platform: process.platform,
        arch: process.arch,
        ...(commandNumber === null ? {} : { commandNumber }),
      },
      callOptions,
    );
  }

  async function runOnce(stopping: AbortSignal): Promise<number> {
    roundsBegun += 1;
    const round = roundsBegun;
    try {
      const call = { signal: stopping, timeoutMs: CALL_TIMEOUT_MS };
      const answer = await send(options.status(), call);
      backoff.reset();
      if (!isReachable) options.emit({ type: 'hub-back' });
      isReachable = true;
      options.onAgentId(answer.agentId);
      options.onCommands(answer.commands);
      roundAnswered = round;
      changes.notify();
      const intervalMs = answer.intervalMs || AGENT_HEARTBEAT_INTERVAL_MS;
      return Math.min(INTERVAL_MS_MAX, Math.max(INTERVAL_MS_MIN, intervalMs));
    } catch (error) {
      const failure = judgeFailure(error);
      if (stopping.aborted) return 0;
      if (failure.kind !== 'retry') {
        options.onRejected(error);
        return AGENT_HEARTBEAT_INTERVAL_MS;
      }
      if (isReachable) options.emit({ type: 'hub-unreachable', message: failure.message });
      isReachable = false;
      const delayMs = backoff.nextDelayMs(failure.retryAfterMs);
      return Math.min(delayMs, AGENT_HEARTBEAT_INTERVAL_MS + failure.retryAfterMs);
    }
  }

  const loop = startLoop({ clock, runOnce, onDefect: options.onDefect });
  return {
    ...loop,
    async acknowledged(signal) {
      // A heartbeat in progress may still carry the previous status.
      const begunBefore = roundsBegun;
      loop.wake();
      const isAnswered = changes.until(() => roundAnswered > begunBefore || signal.aborted);
      await Promise.race([isAnswered, untilAborted(signal)]);
    },
    async leave() {
      try {
        await send('offline', { timeoutMs: CALL_TIMEOUT_MS });
      } catch (error) {
        // Without this report the agent shows as offline 45 s later.
        judgeFailure(error);
      }
    },
  };
}

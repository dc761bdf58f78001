// The simulated agents of the seeded workspace: real calls to the hub, no coding tool.
import { setTimeout as wait } from 'node:timers/promises';
import {
  AGENT_HEARTBEAT_INTERVAL_MS,
  type JobLogEntry,
  LEASE_MS_DEFAULT,
  LEASE_MS_MIN,
  type ToolCall,
} from '@signalbox/contract';
import { ApiError, type Client, UnreachableError } from '@signalbox/sdk';
import {
  agentOfRepository,
  type SeedAgent,
  type SeedRepository,
  seedAgents,
  seedLaterLog,
  seedLaterMessage,
} from './seed-texts.ts';

/** The context of every call to the seeded workspace. */
export interface Stage {
  client: Client;
  workspaceId: string;
  /** Aborts when the demo ends. */
  signal: AbortSignal;
  /** Called with an error of background work. */
  onError: (error: unknown) => void;
}

/** A job that one of the agents holds. */
export interface Claim {
  agentId: string;
  jobId: string;
  claimGeneration: number;
  logEntries: number;
  /** The tool call that runs. */
  call?: { id: string; kind: 'execute'; title: string; startMs: number };
}

export interface Team {
  agentIds: Readonly<Record<SeedAgent, string>>;
  /** The agent finishes what it holds and takes nothing new. */
  drain(name: SeedAgent): Promise<void>;
}

/** Output comes at this pace at first, and ever slower, so that a night adds no million lines. */
const OUTPUT_PAUSE_MS = 1_500;
const OUTPUT_SLOWER_MS = 20;
const OUTPUT_PAUSE_MAX_MS = 15_000;
const JOB_HEARTBEAT_MS = 10_000;
const CLAIM_WAIT_MS = 30_000;
/** Before the next call, where the last one found nothing or no hub. */
const PAUSE_MS = 1_000;
/** A person took the job away, or the machine slept until the lease was over. */
const claimOverCodes: readonly string[] = [
  'LEASE_LOST',
  'CLAIM_GENERATION_MISMATCH',
  'JOB_NOT_RUNNING',
  'JOB_ALREADY_FINISHED',
  'JOB_CANCELED',
];

/** Registers the agents and keeps them online until the signal. */
export async function startTeam(
  stage: Stage,
  repoIds: Readonly<Record<SeedRepository, string>>,
): Promise<Team> {
  const draining = new Set<SeedAgent>();
  const sayPresence = async (name: SeedAgent) => {
    const { repositories, platform, arch, jobsMax } = seedAgents[name];
    const { agentId } = await stage.client.agents.heartbeat(
      {
        workspaceId: stage.workspaceId,
        machineFingerprint: `demo-${name}`,
        displayName: name,
        status: draining.has(name) ? 'draining' : 'online',
        capabilities: {
          ...{ executionModes: ['cli'], canWrite: true, maxConcurrentJobs: jobsMax },
          reposAllowed: repositories.map((repository) => repoIds[repository]),
          labels: { os: platform },
        },
        ...{ agentVersion: '0.1.0', platform, arch },
      },
      { signal: stage.signal },
    );
    return agentId;
  };
  const names = Object.keys(seedAgents) as SeedAgent[];
  const entries = await Promise.all(names.map(async (name) => [name, await sayPresence(name)]));
  for (const name of names) {
    runUntilEnd(stage, async () => {
      await wait(AGENT_HEARTBEAT_INTERVAL_MS, undefined, { signal: stage.signal });
      await sayPresence(name);
    });
  }
  return {
    // Made from the very names that the type is made of.
    agentIds: Object.fromEntries(entries) as Record<SeedAgent, string>,
    async drain(name) {
      draining.add(name);
      await sayPresence(name);
    },
  };
}

/** Claims the only job of a repository that can be claimed. */
export async function claimJob(
  stage: Stage,
  expected: { agentId: string; repoId: string; jobId: string },
): Promise<Claim> {
  const { agentId, repoId, jobId } = expected;
  const { workspaceId, client, signal } = stage;
  const answer = await client.jobs.claimNext(
    { workspaceId, agentId, repoIds: [repoId], waitMs: CLAIM_WAIT_MS },
    { signal },
  );
  if (answer.jobId !== jobId || answer.claimGeneration === undefined) {
    throw new Error(`The hub handed out ${answer.jobId ?? answer.reason} in place of ${jobId}.`);
  }
  return { agentId, jobId, claimGeneration: answer.claimGeneration, logEntries: 0 };
}

/** The names that every write of an agent carries. */
export function fenceOf({ workspaceId }: Stage, claim: Claim) {
  const { agentId, jobId, claimGeneration } = claim;
  return { workspaceId, agentId, jobId, claimGeneration };
}

export async function appendOutput(stage: Stage, claim: Claim, lines: readonly string[]) {
  const entries = lines.flatMap((line) => entriesOf(claim, line));
  const { signal } = stage;
  await stage.client.jobEvents.append({ ...fenceOf(stage, claim), entries }, { signal });
}

/** A line such as `→ npm test` begins a tool call, and ends the one before. */
function entriesOf(claim: Claim, line: string): JobLogEntry[] {
  const entryOf = (message: string, toolCall?: ToolCall): JobLogEntry => {
    claim.logEntries += 1;
    const activity = toolCall && { activity: { toolCall } };
    return { logSeq: claim.logEntries, message, stream: 'stdout', ...activity };
  };
  if (!line.startsWith('→ ')) return [entryOf(`${line}\n`)];
  const entries: JobLogEntry[] = [];
  if (claim.call !== undefined) {
    const { startMs, ...ended } = claim.call;
    const durationMs = Math.round(performance.now() - startMs);
    entries.push(entryOf('', { ...ended, status: 'done', durationMs }));
  }
  const call = { id: `call-${claim.logEntries}`, kind: 'execute', title: line.slice(2) } as const;
  claim.call = { ...call, startMs: performance.now() };
  return [...entries, entryOf(`${line}\n`, { ...call, status: 'running' })];
}

/** Prints the lines again and again until the job is canceled, released or the demo ends. */
export function keepRunning(stage: Stage, claim: Claim, loop: readonly string[]): void {
  void playJob(stage, claim, function* () {
    for (let round = 1; ; round += 1) {
      for (const line of loop) yield line.replaceAll('{n}', String(round));
    }
  });
}

/** Has the agents take what a person enqueues, answers or retries while the demo is open. */
export function keepClaiming(stage: Stage, team: Team): void {
  const { client, workspaceId, signal } = stage;
  for (const name of new Set(Object.values(agentOfRepository))) {
    const agentId = team.agentIds[name];
    runUntilEnd(stage, async () => {
      const answer = await client.jobs.claimNext(
        { workspaceId, agentId, waitMs: CLAIM_WAIT_MS },
        { signal },
      );
      const { jobId, claimGeneration } = answer;
      if (jobId === null || claimGeneration === undefined) {
        await wait(PAUSE_MS, undefined, { signal });
        return;
      }
      void playJob(stage, { agentId, jobId, claimGeneration, logEntries: 0 }, () => seedLaterLog);
    });
  }
}

/** Prints lines at a person's pace, renews the lease, and completes the job when they end. */
async function playJob(stage: Stage, claim: Claim, listLines: () => Iterable<string>) {
  const { client, signal } = stage;
  const fence = fenceOf(stage, claim);
  let renewedMs = performance.now();
  try {
    for (const line of listLines()) {
      const pauseMs = OUTPUT_PAUSE_MS + claim.logEntries * OUTPUT_SLOWER_MS;
      await wait(Math.min(pauseMs, OUTPUT_PAUSE_MAX_MS), undefined, { signal });
      await appendOutput(stage, claim, [line]);
      if (performance.now() - renewedMs < JOB_HEARTBEAT_MS) continue;
      renewedMs = performance.now();
      const renewal = { ...fence, leaseMs: LEASE_MS_DEFAULT };
      const { cancelRequested } = await client.jobs.heartbeat(renewal, { signal });
      if (!cancelRequested) continue;
      // The hub cancels the job at the end of its lease.
      const end = { ...fence, leaseMs: LEASE_MS_MIN, shorten: true };
      await client.jobs.heartbeat(end, { signal });
      return;
    }
    const outcome = { outcome: 'done' as const, message: seedLaterMessage };
    await client.jobs.complete({ ...fence, ...outcome }, { signal });
  } catch (error) {
    const isOver = error instanceof ApiError && claimOverCodes.includes(error.code);
    // Without an answer of the hub the lease runs out, and the job goes to the next agent.
    if (!isOver && !(error instanceof UnreachableError) && !signal.aborted) stage.onError(error);
  }
}

/** Repeats an action until the demo ends. A hub that does not answer is asked again. */
function runUntilEnd(stage: Stage, act: () => Promise<void>): void {
  const repeat = async () => {
    while (!stage.signal.aborted) {
      try {
        await act();
      } catch (error) {
        if (stage.signal.aborted) return;
        if (!(error instanceof UnreachableError)) throw error;
        await wait(PAUSE_MS);
      }
    }
  };
  repeat().catch(stage.onError);
}

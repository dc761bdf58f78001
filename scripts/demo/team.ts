// The agents of the seeded workspace at work, until the demo ends. Scripts play them: they change
// no file.
import { setTimeout as wait } from 'node:timers/promises';
import {
  AGENT_HEARTBEAT_INTERVAL_MS,
  LEASE_MS_DEFAULT,
  LEASE_MS_MIN,
  scopes,
} from '@signalbox/contract';
import { ApiError, createClient, UnreachableError } from '@signalbox/sdk';
import type { Owner } from './owner.ts';
import { append, type Claim, fenceOf, heartbeat, type SeedPlace, seedWorld } from './seed.ts';
import { demoWorld } from './seed-jobs.ts';

/** A seeded workspace whose agents work until the signal. */
export interface Stage {
  place: SeedPlace;
  signal: AbortSignal;
  /** Called with an error of background work. */
  onError: (error: unknown) => void;
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
/** The output of a job that an agent claims while the demo is open. */
const laterLog = [
  'Reading the prompt',
  'Planning the change',
  'This agent is played by the demo: it changes no file',
  'Running the tests',
];

/** This agent finishes the job that it holds and takes no other. */
const draining = 'ada-laptop';

/**
 * Seeds the owner's workspace. Its agents stay online, continue their jobs and claim what a
 * person enqueues, until the signal.
 */
export async function seedDemo(
  baseUrl: string,
  owner: Owner,
  { signal, onError }: Pick<Stage, 'signal' | 'onError'>,
): Promise<void> {
  const { workspaceId, console: person } = owner;
  const mint = { workspaceId, name: 'Demo team', scopes: [...scopes] };
  const { token } = await person.serviceTokens.mint(mint);
  const place: SeedPlace = { client: createClient({ baseUrl, token }), workspaceId, person };
  const stage = { place, signal, onError };
  const { agentIds, repoIds, running } = await seedWorld(place, demoWorld);
  for (const agent of demoWorld.agents) {
    const status = agent.name === draining ? 'draining' : 'online';
    await heartbeat(place, agent, repoIds, status);
    repeat(stage, async () => {
      await wait(AGENT_HEARTBEAT_INTERVAL_MS, undefined, { signal });
      await heartbeat(place, agent, repoIds, status);
    });
    if (status === 'online') repeat(stage, () => claimOne(stage, agentIds.get(agent.name) ?? ''));
  }
  for (const { claim, loop } of running) void play(stage, claim, repeatLines(loop));
}

async function claimOne(stage: Stage, agentId: string): Promise<void> {
  const { place, signal } = stage;
  const ask = { workspaceId: place.workspaceId, agentId, waitMs: CLAIM_WAIT_MS };
  const { jobId, claimGeneration } = await place.client.jobs.claimNext(ask, { signal });
  if (jobId === null || claimGeneration === undefined) await wait(PAUSE_MS);
  else void play(stage, { agentId, jobId, claimGeneration, logEntries: 0 }, laterLog);
}

function* repeatLines(loop: readonly string[]): Iterable<string> {
  for (let round = 1; ; round += 1) {
    for (const line of loop) yield line.replaceAll('{n}', String(round));
  }
}

/** Prints lines at a person's pace, renews the lease, and completes the job when they end. */
async function play({ place, signal, onError }: Stage, claim: Claim, lines: Iterable<string>) {
  const { client } = place;
  const fence = fenceOf(place, claim);
  let renewedMs = performance.now();
  try {
    for (const line of lines) {
      const pauseMs = OUTPUT_PAUSE_MS + claim.logEntries * OUTPUT_SLOWER_MS;
      await wait(Math.min(pauseMs, OUTPUT_PAUSE_MAX_MS), undefined, { signal });
      await append(place, claim, [line]);
      if (performance.now() - renewedMs < JOB_HEARTBEAT_MS) continue;
      renewedMs = performance.now();
      const renewal = { ...fence, leaseMs: LEASE_MS_DEFAULT };
      if (!(await client.jobs.heartbeat(renewal, { signal })).cancelRequested) continue;
      // The hub cancels the job at the end of its lease.
      await client.jobs.heartbeat({ ...fence, leaseMs: LEASE_MS_MIN, shorten: true }, { signal });
      return;
    }
    const message = 'Played by the demo: no file was changed.';
    await client.jobs.complete({ ...fence, outcome: 'done', message }, { signal });
  } catch (error) {
    const isOver = error instanceof ApiError && claimOverCodes.includes(error.code);
    // Without an answer of the hub the lease runs out, and the job goes to the next agent.
    if (!isOver && !(error instanceof UnreachableError) && !signal.aborted) onError(error);
  }
}

/** Repeats an action until the demo ends. A hub that does not answer is asked again. */
function repeat({ signal, onError }: Stage, act: () => Promise<void>): void {
  const loop = async () => {
    while (!signal.aborted) {
      try {
        await act();
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof UnreachableError)) throw error;
        await wait(PAUSE_MS);
      }
    }
  };
  loop().catch(onError);
}

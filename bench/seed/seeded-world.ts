import { LEASE_MS_MAX } from '@signalbox/contract';
import { createClient } from '@signalbox/sdk';
import type { LoadAgent } from '../load/load-report.ts';
import { prompt } from '../load/request-text.ts';
import {
  baseUrlOf,
  type HubStore,
  type HubWorld,
  registerAgents,
  restartWorld,
  startHubWorld,
} from '../subjects/hub.ts';
import type { SeedCounts, TemplateJobs } from './seed-jobs.ts';
import { runSeeding } from './seed-process.ts';

export interface SeededWorld extends HubWorld {
  readonly agents: readonly LoadAgent[];
  /** The job with the long timeline. */
  readonly loggedJobId: string;
}

/** Starts a hub with as much data as after years of use. */
export async function startSeededWorld(
  store: HubStore,
  counts: SeedCounts,
  agentCount: number,
  say: (line: string) => void,
): Promise<SeededWorld> {
  const fresh = await startHubWorld(store, { tokenCount: 8 });
  let jobs: TemplateJobs;
  let agents: LoadAgent[];
  try {
    agents = await registerAgents(fresh, agentCount);
    jobs = await makeTemplateJobs(fresh, agents);
  } finally {
    await fresh.stop();
  }
  await runSeeding({ store, jobs, counts }, say);
  const world = await restartWorld(store, fresh);
  try {
    // Seeding took longer than the heartbeat timeout of an agent.
    await registerAgents(world, agentCount);
    await finishLoggedJob(world, agents, jobs.loggedJobId);
  } catch (error) {
    await world.stop();
    throw error;
  }
  return { ...world, agents, loggedJobId: jobs.loggedJobId };
}

async function finishLoggedJob(
  world: HubWorld,
  [agent]: readonly LoadAgent[],
  jobId: string,
): Promise<void> {
  if (agent === undefined) throw new Error('a job must have an agent');
  const client = createClient({ baseUrl: baseUrlOf(world.targets[0]), token: agent.token });
  const { workspaceId } = world;
  await client.jobs.complete({ workspaceId, jobId, agentId: agent.agentId, outcome: 'done' });
}

async function makeTemplateJobs(
  world: HubWorld,
  agents: readonly LoadAgent[],
): Promise<TemplateJobs> {
  const { workspaceId, repoId } = world;
  const [agent] = agents;
  if (agent === undefined) throw new Error('templates must have an agent');
  const { agentId, token } = agent;
  const client = createClient({ baseUrl: baseUrlOf(world.targets[0]), token });
  const enqueue = async () =>
    (await client.jobs.enqueue({ workspaceId, repoId, kind: 'work', prompt })).jobId;
  const claim = async (jobId: string) => {
    const { claimGeneration = 0 } = await client.jobs.claimNext({
      ...{ workspaceId, agentId, leaseMs: LEASE_MS_MAX },
    });
    return { workspaceId, jobId, agentId, claimGeneration };
  };
  const finished = await claim(await enqueue());
  await client.jobs.complete({ ...finished, outcome: 'done' });
  // Keep it running, with a lease longer than the seeding, so that the log event stays the last
  // one.
  const logged = await claim(await enqueue());
  const message = 'A line of what the tool printed, of usual length.';
  await client.jobEvents.append({ ...logged, entries: [{ logSeq: 1, message }] });
  return {
    workspaceId,
    finishedJobId: finished.jobId,
    loggedJobId: logged.jobId,
    pendingJobId: await enqueue(),
  };
}

// Fills a workspace with the work of a team, over HTTP as any client would.
import { createHash } from 'node:crypto';
import { hashRemoteUrl, scopes } from '@signalbox/contract';
import { createClient } from '@signalbox/sdk';
import {
  appendOutput,
  type Claim,
  claimJob,
  fenceOf,
  keepClaiming,
  keepRunning,
  type Stage,
  startTeam,
  type Team,
} from './agents.ts';
import type { Owner } from './owner.ts';
import { seedJobs } from './seed-jobs.ts';
import {
  agentOfRepository,
  type SeedCourse,
  type SeedJob,
  type SeedQuestion,
  type SeedRepository,
  type SeedRun,
  seedRuns,
} from './seed-texts.ts';

/** The records that the seeding has created so far. */
interface Seeding {
  stage: Stage;
  owner: Owner;
  team: Team;
  repoIds: Readonly<Record<SeedRepository, string>>;
  runIds: Readonly<Record<SeedRun, string>>;
  /** Job ids by the name that a seed gives. */
  jobIds: Map<string, string>;
}

/** Seeds the owner's workspace, and keeps its agents at work until the signal. */
export async function seedWorkspace(
  baseUrl: string,
  owner: Owner,
  { signal, onError }: Pick<Stage, 'signal' | 'onError'>,
): Promise<void> {
  const { workspaceId } = owner;
  const { token } = await owner.console.serviceTokens.mint({
    ...{ workspaceId, name: 'Demo team', scopes: [...scopes] },
  });
  const stage: Stage = { client: createClient({ baseUrl, token }), workspaceId, signal, onError };
  const repoIds = await makeRepositories(stage);
  const runIds = await makeRuns(stage, repoIds);
  const team = await startTeam(stage, repoIds);
  const seeding = { stage, owner, team, repoIds, runIds, jobIds: new Map<string, string>() };
  // One after the other: each is the only job that its agent can claim.
  for (const job of seedJobs) await seedJob(seeding, job);
  await team.drain('ada-laptop');
  keepClaiming(stage, team);
}

async function makeRepositories({ client, workspaceId, signal }: Stage) {
  const labels = Object.keys(agentOfRepository) as SeedRepository[];
  const entries: [SeedRepository, string][] = [];
  for (const label of labels) {
    const remoteUrlHash = await hashRemoteUrl(`https://git.demo.test/${label}.git`);
    const { repoId } = await client.repositories.upsert(
      { workspaceId, remoteUrlHash, label },
      { signal },
    );
    entries.push([label, repoId]);
  }
  // One entry for each name that the type is made of.
  return Object.fromEntries(entries) as Record<SeedRepository, string>;
}

async function makeRuns(
  { client, workspaceId, signal }: Stage,
  repoIds: Readonly<Record<SeedRepository, string>>,
) {
  const entries: [string, string][] = [];
  for (const [runRef, run] of Object.entries(seedRuns)) {
    const { repository, milestone: currentMilestone, ...rest } = run;
    const { runId } = await client.runs.upsertV1(
      { workspaceId, repoId: repoIds[repository], runRef, currentMilestone, ...rest },
      { signal },
    );
    entries.push([runRef, runId]);
  }
  // One entry for each name that the type is made of.
  return Object.fromEntries(entries) as Record<SeedRun, string>;
}

async function seedJob(seeding: Seeding, job: SeedJob): Promise<void> {
  const { stage, repoIds, runIds, jobIds } = seeding;
  const { client, workspaceId, signal } = stage;
  const { repository, course, run, name, after = [], agent: _agent, ...fields } = job;
  const dependsOn = after.map((dependency) => {
    const jobId = jobIds.get(dependency);
    if (jobId === undefined) throw new Error(`No job before is named "${dependency}".`);
    return jobId;
  });
  const { jobId } = await client.jobs.enqueue(
    {
      ...{ workspaceId, repoId: repoIds[repository], kind: 'work', dependsOn },
      ...fields,
      ...(run === undefined ? {} : { runId: runIds[run] }),
    },
    { signal },
  );
  if (name !== undefined) jobIds.set(name, jobId);
  await playCourse(seeding, job, jobId, course);
}

async function playCourse(seeding: Seeding, job: SeedJob, jobId: string, course: SeedCourse) {
  const { stage, team, owner } = seeding;
  const { client, workspaceId, signal } = stage;
  if (course.status === 'pending') return;
  if (course.status === 'canceled') {
    await owner.console.jobs.cancel({ workspaceId, jobId, reason: course.reason });
    return;
  }
  const agentId = team.agentIds[job.agent ?? agentOfRepository[job.repository]];
  const expected = { agentId, repoId: seeding.repoIds[job.repository], jobId };
  let claim = await claimJob(stage, expected);
  await appendOutput(stage, claim, course.log);
  if (course.status === 'running') {
    await client.jobs.heartbeat(
      { ...fenceOf(stage, claim), message: course.log.join(' · ') },
      { signal },
    );
    keepRunning(stage, claim, course.loop);
    return;
  }
  if (course.status === 'blocked') {
    await ask(seeding, job, claim, course.question);
    return;
  }
  if (course.status === 'done' && 'question' in course) {
    const uncertaintyId = await ask(seeding, job, claim, course.question);
    const { answer: value } = course;
    const resolution = { mode: 'answered', value, confidence: 1 } as const;
    await owner.console.uncertainties.addResolution({ workspaceId, uncertaintyId, ...resolution });
    claim = await claimJob(stage, expected);
    await appendOutput(stage, claim, [`The answer is “${value}”.`, ...course.log.slice(1)]);
  }
  await client.jobs.complete({ ...fenceOf(stage, claim), ...resultOf(job, course) }, { signal });
}

/** Asks a person, and gives the job back until the answer comes. */
async function ask(
  { stage, runIds }: Seeding,
  { run }: SeedJob,
  claim: Claim,
  question: SeedQuestion,
): Promise<string> {
  if (run === undefined) throw new Error('A job that asks a person needs a run.');
  const { client, workspaceId, signal } = stage;
  const { jobId } = claim;
  const { reasoning: assumedReasoning, recommendedValue, ...rest } = question;
  const { uncertaintyId } = await client.uncertainties.createWithAutoPromotion(
    {
      ...{ workspaceId, jobId, runId: runIds[run], ...rest },
      ...{ recommendedValue, assumedValue: recommendedValue, assumedReasoning },
    },
    { signal },
  );
  const result = { outcome: 'blocked', message: question.prompt } as const;
  await client.jobs.complete({ ...fenceOf(stage, claim), ...result }, { signal });
  return uncertaintyId;
}

function resultOf(job: SeedJob, course: Extract<SeedCourse, { status: 'done' | 'failed' }>) {
  const { message } = course;
  if (course.status === 'failed') {
    const { category, code } = course;
    const outcomeReason = { category, code, summary: message, retryable: false };
    return { outcome: 'failed', message, outcomeReason } as const;
  }
  const { files: changedFiles } = course;
  const costUsd = 'costUsd' in course ? course.costUsd : undefined;
  // Looks like the id of a commit. The demo says that these commits do not exist.
  const commitSha = createHash('sha1').update(job.prompt).digest('hex');
  return {
    ...({ outcome: 'done', message } as const),
    ...(changedFiles === undefined ? {} : { evidence: { commitSha, changedFiles } }),
    ...(costUsd === undefined ? {} : { usage: usageOf(costUsd) }),
  };
}

/** Tokens that would cost about so much. */
function usageOf(costUsd: number) {
  return {
    ...{ costUsd, model: 'demo-model' },
    inputTokens: Math.round(costUsd * 180_000),
    outputTokens: Math.round(costUsd * 14_000),
  };
}

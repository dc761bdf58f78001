// Fills a workspace through the SDK, as agents and people would: the seeder of the demo, of the
// pictures and of the tests of pages.
import {
  hashRemoteUrl,
  type JobLogEntry,
  LEASE_MS_DEFAULT,
  LEASE_MS_MAX,
  type ToolCall,
} from '@signalbox/contract';
import type { Client } from '@signalbox/sdk';

type RequestOf<Call extends (input: never) => unknown> = Parameters<Call>[0];
type Fence = 'workspaceId' | 'agentId' | 'jobId' | 'claimGeneration';
type Enqueue = RequestOf<Client['jobs']['enqueue']>;
type Question = RequestOf<Client['uncertainties']['createWithAutoPromotion']>;

const MINUTE_MS = 60_000;
/** How long a question of a seeded job waits for its answer. */
const ANSWER_MS = 23 * MINUTE_MS;

/** How far a job comes. */
export type SeedCourse =
  | { status: 'pending' }
  | { status: 'canceled'; reason: string }
  | { status: 'blocked' }
  /** The demo prints `loop` again and again; `{n}` counts up. */
  | { status: 'running'; loop: readonly string[] }
  | {
      status: 'ended';
      result: Omit<RequestOf<Client['jobs']['complete']>, Fence>;
      /** Is sent as the patch of the evidence, with the number of files that it leaves out. */
      patch?: { text: string; filesOmitted: number };
    };

type SeedFields = Omit<Enqueue, 'workspaceId' | 'repoId' | 'dependsOn'>;

export interface SeedJob extends Partial<SeedFields> {
  /** The label of its repository. */
  repository: string;
  prompt: string;
  course: SeedCourse;
  /** The person who enqueues it; default: the client of the place. */
  by?: string;
  /** With a calendar: when it is enqueued, in milliseconds since the epoch; default: now. */
  atMs?: number;
  /** With a calendar: how long the agent works on it. */
  minutes?: number;
  /** Of the agent that does it; default: the first agent that serves the repository. */
  agent?: string;
  /** The reference of its run. */
  run?: string;
  name?: string;
  /** Names of the jobs that must be done first. */
  after?: readonly string[];
  /** Lines of output; one that begins with `→ ` begins a tool call. */
  log?: readonly string[];
  /** Blocks the job. With an answer, the job is claimed again and takes its course. */
  question?: Omit<Question, 'workspaceId' | 'jobId' | 'runId'>;
  answer?: string;
}

export interface SeedAgent {
  name: string;
  tool?: { name: string; version: string; model: string };
  repositories: readonly string[];
  jobsMax: number;
  platform?: string;
  arch?: string;
}

export interface SeedWorld {
  agents: readonly SeedAgent[];
  /** By reference. */
  runs?: Readonly<Record<string, { repository: string; title: string; goal: string }>>;
  /** Each must be the only one of its repository that its agent can claim. */
  jobs: readonly SeedJob[];
}

export interface SeedPlace {
  client: Client;
  workspaceId: string;
  /** Cancels jobs and answers questions. */
  person: {
    jobs: Pick<Client['jobs'], 'cancel'>;
    uncertainties: Pick<Client['uncertainties'], 'addResolution'>;
  };
  calendar?: Calendar;
}

/** The hub's clock, in the hands of the seeder, and the people who come back each day. */
export interface Calendar {
  nowMs(): number;
  /** Lets time pass. Does nothing if it is later already. */
  moveTo(timeMs: number): void;
  /** A session of a person at this time. */
  signIn(name: string): Promise<{ jobs: Pick<Client['jobs'], 'enqueue'> } & SeedPlace['person']>;
}

/** A job that an agent holds. */
export interface Claim {
  agentId: string;
  jobId: string;
  claimGeneration: number;
  logEntries: number;
  /** The tool call that runs. */
  call?: ToolCall;
}

export interface Seeded {
  /** By the names that the world gives. */
  jobIds: Map<string, string>;
  agentIds: Map<string, string>;
  repoIds: Map<string, string>;
  running: { claim: Claim; loop: readonly string[] }[];
}

interface Seeding extends Seeded {
  place: SeedPlace;
  world: SeedWorld;
  runIds: Map<string, string>;
}

export async function seedWorld(place: SeedPlace, world: SeedWorld): Promise<Seeded> {
  const { client, workspaceId } = place;
  const [repoIds, runIds] = [new Map<string, string>(), new Map<string, string>()];
  const [agentIds, jobIds] = [new Map<string, string>(), new Map<string, string>()];
  const seeding: Seeding = { place, world, repoIds, runIds, agentIds, jobIds, running: [] };
  for (const label of new Set(world.agents.flatMap(({ repositories }) => repositories))) {
    const remoteUrlHash = await hashRemoteUrl(`https://git.demo.test/${label}.git`);
    const draft = { workspaceId, remoteUrlHash, label };
    repoIds.set(label, (await client.repositories.upsert(draft)).repoId);
  }
  for (const [runRef, { repository, ...run }] of Object.entries(world.runs ?? {})) {
    const repoId = need(repoIds, repository);
    const draft = { workspaceId, repoId, runRef, status: 'in_progress', ...run };
    runIds.set(runRef, (await client.runs.upsertV1(draft)).runId);
  }
  for (const agent of world.agents) {
    agentIds.set(agent.name, await heartbeat(place, agent, repoIds, 'online'));
  }
  for (const job of world.jobs) await seedJob(seeding, job);
  return seeding;
}

/** Says that an agent is there. Returns its id. */
export async function heartbeat(
  { client, workspaceId }: SeedPlace,
  { name, repositories, jobsMax, tool, platform = 'linux', arch = 'x64' }: SeedAgent,
  repoIds: ReadonlyMap<string, string>,
  status: 'online' | 'draining',
): Promise<string> {
  const capabilities = {
    executionModes: ['cli'],
    canWrite: true,
    ...(tool && { tools: [tool] }),
    maxConcurrentJobs: jobsMax,
    reposAllowed: repositories.map((label) => need(repoIds, label)),
    labels: { os: platform },
  };
  const agent = { displayName: name, machineFingerprint: name, agentVersion: '0.1.0' };
  const machine = { ...agent, platform, arch, status, capabilities };
  return (await client.agents.heartbeat({ workspaceId, ...machine })).agentId;
}

async function seedJob(seeding: Seeding, seed: SeedJob): Promise<void> {
  const { place, world, repoIds, runIds, jobIds, agentIds } = seeding;
  const { client, workspaceId, calendar } = place;
  const { repository, course, run, name, after = [], question, answer } = seed;
  const repoId = need(repoIds, repository);
  const dependsOn = after.map((dependency) => need(jobIds, dependency));
  const runId = run === undefined ? {} : { runId: need(runIds, run) };
  calendar?.moveTo(seed.atMs ?? 0);
  const { by } = seed;
  const person = by === undefined ? undefined : await calendar?.signIn(by);
  const draft = { workspaceId, repoId, kind: 'work' as const, dependsOn, ...jobOf(seed), ...runId };
  const { jobId } = await (person ?? client).jobs.enqueue(draft);
  if (name !== undefined) jobIds.set(name, jobId);
  if (course.status === 'pending') return;
  if (course.status === 'canceled') {
    const { reason } = course;
    await (person ?? place.person).jobs.cancel({ workspaceId, jobId, reason });
    return;
  }
  const serving = world.agents.find(({ repositories }) => repositories.includes(repository));
  const agent = world.agents.find(({ name: each }) => each === (seed.agent ?? serving?.name));
  if (agent === undefined) throw new Error(`No agent of the seeded world serves ${repository}.`);
  const expected = { agentId: need(agentIds, agent.name), repoId, jobId };
  // An agent that was silent for days counts as offline.
  const wakeUp = async () => calendar && heartbeat(place, agent, repoIds, 'online');
  await wakeUp();
  let claim = await work(place, expected, seed);
  if (question !== undefined) {
    const asked = { workspaceId, jobId, ...runId, ...question };
    const { uncertaintyId } = await client.uncertainties.createWithAutoPromotion(asked);
    const blocked = { outcome: 'blocked', message: question.prompt } as const;
    await client.jobs.complete({ ...fenceOf(place, claim), ...blocked });
    if (answer === undefined) return;
    const resolution = { mode: 'answered', value: answer, confidence: 1 } as const;
    calendar?.moveTo(calendar.nowMs() + ANSWER_MS);
    const answering = by === undefined ? undefined : await calendar?.signIn(by);
    const { uncertainties } = answering ?? place.person;
    await uncertainties.addResolution({ workspaceId, uncertaintyId, ...resolution });
    await wakeUp();
    claim = await work(place, expected, { ...seed, log: [`The answer is “${answer}”.`] });
  }
  if (course.status === 'running') seeding.running.push({ claim, loop: course.loop });
  else if (course.status === 'ended') await complete(place, claim, course);
}

/** The fields of the request that the seed gives. */
function jobOf(seed: SeedJob): Pick<SeedJob, 'prompt'> & Partial<SeedFields> {
  const { repository: _r, course: _c, agent: _a, run: _u, name: _n, after: _f, ...rest } = seed;
  const { log: _l, question: _q, answer: _w, by: _b, atMs: _t, minutes: _m, ...job } = rest;
  return job;
}

/** Claims a job, prints its output, and lets the time of the job pass. */
async function work(
  place: SeedPlace,
  { agentId, repoId, jobId }: { agentId: string; repoId: string; jobId: string },
  { log = [], minutes = 0 }: SeedJob,
): Promise<Claim> {
  const { client, workspaceId, calendar } = place;
  // The lease is not renewed while the time of a job passes.
  const leaseMs = calendar === undefined ? LEASE_MS_DEFAULT : LEASE_MS_MAX;
  const answer = await client.jobs.claimNext({ workspaceId, agentId, repoIds: [repoId], leaseMs });
  if (answer.jobId !== jobId || answer.claimGeneration === undefined) {
    throw new Error(`The hub handed out ${answer.jobId ?? answer.reason} in place of ${jobId}.`);
  }
  const { claimGeneration } = answer;
  const claim: Claim = { agentId, jobId, claimGeneration, logEntries: 0 };
  const half = Math.ceil(log.length / 2);
  for (const lines of [log.slice(0, half), log.slice(half), []]) {
    calendar?.moveTo(calendar.nowMs() + (minutes * MINUTE_MS) / 3);
    await append(place, claim, lines);
  }
  const renewal = { leaseMs, message: 'Reading the code.' };
  await client.jobs.heartbeat({ ...fenceOf(place, claim), ...renewal });
  return claim;
}

async function complete(
  place: SeedPlace,
  claim: Claim,
  { result, patch }: Extract<SeedCourse, { status: 'ended' }>,
): Promise<void> {
  const { client, workspaceId } = place;
  const fence = fenceOf(place, claim);
  if (patch === undefined) {
    await client.jobs.complete({ ...fence, ...result });
    return;
  }
  const { agentId, jobId, claimGeneration } = claim;
  const sizeBytes = Buffer.byteLength(patch.text);
  const { uploadId, uploadUrl } = await client.uploads.create({
    workspaceId,
    fileName: 'job.patch',
    contentType: 'text/x-diff',
    sizeBytes,
    job: { jobId, agentId, claimGeneration },
  });
  const sent = await fetch(uploadUrl, { method: 'PUT', body: patch.text });
  if (!sent.ok) throw new Error(`The patch was refused: ${await sent.text()}`);
  const shared = { patch: { uploadId, sizeBytes, filesOmitted: patch.filesOmitted } };
  const evidence = { ...result.evidence, ...shared };
  await client.jobs.complete({ ...fence, ...result, evidence });
}

/** The names that every write of an agent carries. */
export function fenceOf(
  { workspaceId }: SeedPlace,
  { agentId, jobId, claimGeneration }: Claim,
): Record<Exclude<Fence, 'claimGeneration'>, string> & { claimGeneration: number } {
  return { workspaceId, agentId, jobId, claimGeneration };
}

export async function append(
  place: SeedPlace,
  claim: Claim,
  lines: readonly string[],
): Promise<void> {
  const entries = lines.flatMap((line) => entriesOf(claim, line));
  if (entries.length === 0) return;
  await place.client.jobEvents.append({ ...fenceOf(place, claim), entries });
}

/** A line such as `→ npm test` begins a tool call, and ends the one before. */
function entriesOf(claim: Claim, line: string): JobLogEntry[] {
  const entryOf = (message: string, toolCall?: ToolCall): JobLogEntry => {
    claim.logEntries += 1;
    const activity = toolCall && { activity: { toolCall } };
    return { logSeq: claim.logEntries, message, stream: 'stdout', ...activity };
  };
  if (!line.startsWith('→ ')) return [entryOf(`${line}\n`)];
  const ended = claim.call && entryOf('', { ...claim.call, status: 'done' });
  const id = `call-${claim.logEntries}`;
  claim.call = { id, kind: 'execute', title: line.slice(2), status: 'running' };
  return [...(ended ? [ended] : []), entryOf(`${line}\n`, claim.call)];
}

function need(ids: ReadonlyMap<string, string>, name: string): string {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`Nothing in the seeded world is named "${name}".`);
  return id;
}

// The agents of the seeded workspace at work, until the demo ends. Scripts play them: they change
// no file.
import { setTimeout as wait } from 'node:timers/promises';
import {
  AGENT_HEARTBEAT_INTERVAL_MS,
  LEASE_MS_DEFAULT,
  LEASE_MS_MIN,
  scopes,
} from '@signalbox/contract';
import { type Config, createHub, openLocalAccess, readConfig } from '@signalbox/hub';
import { ApiError, createClient, UnreachableError } from '@signalbox/sdk';
import { type ConsoleClient, linkTokenOf, makeOwner, type Owner, openConsole } from './owner.ts';
import {
  append,
  type Claim,
  fenceOf,
  heartbeat,
  type Seeded,
  type SeedJob,
  type SeedPlace,
  seedWorld,
} from './seed.ts';
import { readTeamWorld } from './world.ts';

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

const demoWorld = readTeamWorld();

const HOUR_MS = 60 * 60_000;
const PAST_DAYS = 14;
const PAST_MS = PAST_DAYS * 24 * HOUR_MS;
const WORKING_HOURS = 10;
/** All open jobs began within the last hour. */
const PRESENT_MS = 50 * 60_000;
/** A session ends after eight hours without a call. */
const SESSION_MS = 7 * HOUR_MS;

/** This agent finishes the job that it holds and takes no other. */
const draining = 'ada-laptop';

/** The people of the team, by the names that the jobs have. The first one owns the workspace. */
const people = {
  ada: { name: 'Ada Novak', email: 'ada@demo.test' },
  ben: { name: 'Ben Okafor', email: 'ben@demo.test' },
  chiara: { name: 'Chiara Rossi', email: 'chiara@demo.test' },
} as const;

/** The workspace of the team, as the past two weeks have left it. */
export interface Team {
  owner: Omit<Owner, 'console'>;
  seeded: Seeded;
  /** Of the agents. */
  token: string;
}

/**
 * Makes the past of the team in a new data directory, by a hub in this process whose clock begins
 * two weeks ago. It has ended when this returns.
 */
export async function makeTeam(dataDir: string, workspaceSlug: string): Promise<Team> {
  const nowMs = Date.now();
  let behindMs = PAST_MS;
  const clock = {
    nowMs: () => Date.now() - behindMs,
    schedule(delayMs: number, call: () => void) {
      const timer = setTimeout(call, delayMs);
      return () => clearTimeout(timer);
    },
  };
  const moveTo = (timeMs: number) => {
    // Whole milliseconds, as in ids: with a dot, the page of a job would be a file that is missing.
    behindMs = Math.max(0, Math.min(behindMs, Math.ceil(Date.now() - timeMs)));
  };
  const hub = await createHub({ config: configOf(dataDir), clock });
  try {
    const { firstOwnerUrl } = await hub.listen();
    const url = hub.baseUrl;
    const owner = await makeOwner({ url, firstOwnerUrl: firstOwnerUrl ?? '' }, workspaceSlug);
    const { workspaceId, console: person } = owner;
    const mint = { workspaceId, name: 'Demo team', scopes: [...scopes] };
    const { token } = await person.serviceTokens.mint(mint);
    for (const { name, email } of [people.ben, people.chiara]) {
      const { invitationUrl } = await person.invitations.create({
        workspaceId,
        email,
        role: 'member',
      });
      const account = { name, password: owner.password };
      await openConsole(url).invitations.accept({
        linkToken: linkTokenOf(invitationUrl),
        ...account,
      });
    }
    const signIn = createSignIn(url, owner.password, clock.nowMs);
    const client = createClient({ baseUrl: url, token });
    const calendar = { nowMs: clock.nowMs, moveTo, signIn };
    const place: SeedPlace = { client, workspaceId, person: await signIn('ada'), calendar };
    const seeded = await seedWorld(place, { ...demoWorld, jobs: planJobs(nowMs) });
    moveTo(nowMs);
    const { console: _, ...account } = owner;
    return { owner: account, seeded, token };
  } finally {
    await hub.stop();
  }
}

/** Signs people in, and again when their session has ended for its age. */
function createSignIn(url: string, password: string, nowMs: () => number) {
  const sessions = new Map<string, { console: ConsoleClient; untilMs: number }>();
  return async (name: string): Promise<ConsoleClient> => {
    const found = sessions.get(name);
    if (found !== undefined && found.untilMs > nowMs()) return found.console;
    const person = Object.entries(people).find(([each]) => each === name)?.[1];
    if (person === undefined) throw new Error(`The team has no person named "${name}".`);
    const console = openConsole(url);
    await console.session.signIn({ email: person.email, password });
    sessions.set(name, { console, untilMs: nowMs() + SESSION_MS });
    return console;
  };
}

/**
 * Gives each job its time: those of the past two weeks in the ten hours of each day before the
 * present hour, then what waits for an answer, what runs, and what waits for an agent.
 */
function planJobs(nowMs: number): SeedJob[] {
  const isPast = ({ course, question, answer }: SeedJob) =>
    course.status === 'canceled' ||
    (course.status === 'ended' && (question === undefined || answer !== undefined));
  const past = demoWorld.jobs.filter(isPast);
  const present = demoWorld.jobs.filter((job) => !isPast(job));
  const names = Object.keys(people);
  const byOf = (job: SeedJob, at: number) => job.by ?? names[at % names.length] ?? '';
  return [
    ...past.map((job, at): SeedJob => {
      const day = (PAST_DAYS * at) / past.length;
      const hours = 24 * Math.floor(day) + 13 + WORKING_HOURS * (day % 1);
      const atMs = nowMs - PAST_MS + hours * HOUR_MS;
      return { minutes: 6 + ((at * 17) % 29), ...job, by: byOf(job, at), atMs };
    }),
    ...present.map((job, at): SeedJob => {
      const atMs = nowMs - (PRESENT_MS * (present.length - at)) / (present.length + 1);
      return { ...job, by: byOf(job, at), atMs };
    }),
  ];
}

/** Signs the owner of the team in at a hub that runs on its data directory. */
export async function enterTeam({ owner }: Team, baseUrl: string): Promise<Owner> {
  const console = openConsole(baseUrl);
  await console.session.signIn({ email: owner.email, password: owner.password });
  return { ...owner, console };
}

/** A link that signs the owner in, once. */
export async function makeSignInUrl(
  owner: Omit<Owner, 'console'>,
  { dataDir, baseUrl }: { dataDir: string; baseUrl: string },
): Promise<string> {
  const { signInUrl } = await openLocalAccess(configOf(dataDir), {
    baseUrl,
    login: owner,
    machineName: 'demo',
    owner: { ...people.ada, workspaceSlug: 'demo', workspaceName: 'Demo' },
  });
  return signInUrl;
}

function configOf(dataDir: string): Config {
  const limits = { SVC_LIMIT_TOKEN: '0', SVC_LIMIT_WORKSPACE: '0', SVC_LIMIT_ADDRESS: '0' };
  return readConfig({
    SVC_DATA_DIR: dataDir,
    SVC_PORT: '0',
    SVC_LOG_LEVEL: 'silent',
    ...limits,
  });
}

/**
 * Lets the agents of the team be online, continue their jobs and claim what a person enqueues,
 * until the signal.
 */
export async function playTeam(
  { seeded, token }: Team,
  { owner, baseUrl, signal, onError }: Omit<Stage, 'place'> & { owner: Owner; baseUrl: string },
): Promise<void> {
  const { workspaceId, console: person } = owner;
  const place: SeedPlace = { client: createClient({ baseUrl, token }), workspaceId, person };
  const stage = { place, signal, onError };
  const { agentIds, repoIds, running } = seeded;
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

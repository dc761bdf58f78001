import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Asker } from '../attack/asking.ts';
import type { Tally } from '../attack/attack-line.ts';
import type { AttackOrder } from '../attack/attacker.ts';
import { prepareAttacker } from '../attack/attacker-world.ts';
import { attacks } from '../attack/attacks.ts';
import type { FleetOrder, FleetQuestion, FleetSeen } from '../attack/fleet.ts';
import { type HealthSeen, HealthWatch } from '../attack/health-watch.ts';
import { type Child, projectRoot, startChild } from '../child.ts';
import { describeError, formatCount, formatMegabytes, formatMs } from '../format.ts';
import type { Bench, Section, Verdict } from '../section.ts';
import {
  baseUrlOf,
  type HubStore,
  type HubWorld,
  ServerFailure,
  startHubWorld,
  withHubs,
} from '../subjects/hub.ts';
import type { HubSeen } from '../subjects/hub-probe.ts';
import { type EngineName, engineTitles, findAbsence, withStore } from '../subjects/store.ts';

const engines: readonly EngineName[] = ['sqlite', 'postgres'];
const AGENTS = 200;
const TOKENS = 64;
const HEAP_MB = 512;
const targets = { healthMs: 250, goodMs: 200, memoryBytes: 600_000_000 } as const;

interface Phase {
  readonly title: string;
  /** The attacks that run at once; none: the baseline. */
  readonly ids: readonly string[];
}

interface PhaseSeen extends Phase {
  readonly health: HealthSeen;
  readonly good: FleetSeen;
  readonly loop: HubSeen;
  readonly got: Tally;
}

interface Standing {
  readonly engine: EngineName;
  /** Which checkout the hub is of, where two are compared. */
  readonly checkout: string | null;
  readonly phases: readonly PhaseSeen[];
  readonly absentBecause: string | null;
}

const phases: readonly Phase[] = [
  { title: 'no attack', ids: [] },
  ...attacks.map(({ id, title }) => ({ title, ids: [id] })),
  { title: 'all of these at once', ids: attacks.map(({ id }) => id) },
  { title: 'no attack, afterwards', ids: [] },
];

/** P14: well-behaved agents beside an attacker who has a valid token. */
export async function measureAttack(bench: Bench): Promise<Section> {
  const standings: Standing[] = [];
  for (const contest of contestsOf(bench)) standings.push(await measureEngine(bench, contest));
  return {
    title: `${AGENTS} agents beside an attacker`,
    table: {
      head: [
        ...['hub on', 'attack', 'worst health', 'agents p99', 'agents worst', 'event loop worst'],
        ...['its processor time without a pause', 'during a call, p99'],
        ...['memory', 'answers to the agents', 'answers to the attacker'],
      ],
      rows: standings.flatMap(describe),
    },
    notes: [
      `The hub runs with default settings and a heap of ${HEAP_MB} MB. The attacker is the owner ` +
        'of another workspace, with its service token, job token, integration secret and session, ' +
        'and repeats each request as soon as it is answered, also when it is refused.',
      'Each agent works with the SDK: it enqueues a job, claims it, sends output each second, ' +
        'renews the lease, completes after four seconds, and sends heartbeats. Times contain ' +
        'retries.',
      'The event loop is measured inside the hub: it does not contain the time that requests ' +
        'wait for a processor. The attacker’s process yields to the others. Its processor time is ' +
        'what does not depend on other programs: the most in one go, and from the arrival of a ' +
        'call of the agents to its answer, claims not included.',
    ],
    verdicts: standings.flatMap(judge),
    bars: [],
    raw: standings,
  };
}

/** A hub to measure. */
type Contest = Pick<Standing, 'engine' | 'checkout'>;

function contestsOf({ options: { engine: only, against, rounds } }: Bench): Contest[] {
  const chosen = only === null ? engines : [only];
  if (against === null) return chosen.map((engine) => ({ engine, checkout: null }));
  const pairs = chosen.flatMap((engine) => [
    { engine, checkout: against },
    { engine, checkout: projectRoot },
  ]);
  return Array.from({ length: rounds }, () => pairs).flat();
}

async function measureEngine(bench: Bench, contest: Contest): Promise<Standing> {
  const absentBecause = findAbsence(bench, contest.engine);
  if (absentBecause !== null) return { ...contest, phases: [], absentBecause };
  try {
    const attack = (store: HubStore) => attackHub(bench, contest, store);
    const seen = await withStore(bench, contest.engine, attack);
    return { ...contest, phases: seen, absentBecause: null };
  } catch (error) {
    if (error instanceof ServerFailure) bench.say(error.serverLog);
    bench.say(`  ${titleOf(contest)} failed: ${describeError(error)}`);
    return { ...contest, phases: [], absentBecause: `failed: ${describeError(error)}` };
  }
}

function titleOf({ engine, checkout }: Contest): string {
  return checkout === null ? engineTitles[engine] : `${engineTitles[engine]}, ${checkout}`;
}

async function attackHub(bench: Bench, contest: Contest, store: HubStore): Promise<PhaseSeen[]> {
  const nodeFlags = [
    `--max-old-space-size=${HEAP_MB}`,
    ...['--import', join(import.meta.dirname, '../subjects/hub-probe.ts')],
  ];
  const started = await startHubWorld(store, {
    ...{ tokenCount: TOKENS, nodeFlags, hasChannel: true },
    checkout: contest.checkout ?? undefined,
  });
  return withHubs(started, (world) => runPhases(bench, contest, world));
}

/** The phases that the options ask for. */
function phasesOf({ attacks: wanted }: Bench['options']): readonly Phase[] {
  if (wanted === null) return phases;
  return phases.filter(({ ids }) => {
    const [id = 'none'] = ids;
    return id === 'none' || wanted.has(ids.length === 1 ? id : 'all');
  });
}

async function runPhases(bench: Bench, contest: Contest, world: HubWorld): Promise<PhaseSeen[]> {
  const [target] = world.targets;
  const [hub] = world.hubs;
  if (target === undefined || hub === undefined) throw new Error('a world must have a hub');
  const attackerWorld = await prepareAttacker(target, hub.output());
  const { workspaceId, repoId, tokens } = world;
  const order: FleetOrder = {
    ...{ baseUrl: baseUrlOf(target), workspaceId, repoId, tokens, agentCount: AGENTS },
  };
  const { quick, seconds } = bench.options;
  const times = quick
    ? { warmUpMs: 4_000, measureMs: 1_500, pauseMs: 500 }
    : { warmUpMs: 15_000, measureMs: 15_000, pauseMs: 3_000 };
  if (seconds !== null) times.measureMs = seconds * 1_000;
  const peers = await startPeers();
  const probe = new Asker(hub);
  const watch = new HealthWatch(target, hub.pid);
  const seen: PhaseSeen[] = [];
  try {
    await peers.fleet.ask({ start: order } satisfies FleetQuestion);
    await sleep(times.warmUpMs);
    for (const phase of phasesOf(bench.options)) {
      watch.collect();
      await probe.ask<HubSeen>('collect');
      await peers.fleet.ask('mark' satisfies FleetQuestion);
      const attack: AttackOrder = { world: attackerWorld, ids: phase.ids, ms: times.measureMs };
      const got = await peers.attacker.ask<Tally>(attack);
      const loop = await probe.ask<HubSeen>('collect');
      const health = watch.collect();
      await peers.fleet.ask('mark' satisfies FleetQuestion);
      // Calls that began beside the attack end in the pause.
      await sleep(times.pauseMs);
      const good = await peers.fleet.ask<FleetSeen>('collect' satisfies FleetQuestion);
      const one = { ...phase, health, good, loop, got };
      seen.push(one);
      bench.say(`  ${describeOne(contest, one).join(' · ')}`);
    }
    await watch.stop();
    return seen;
  } finally {
    await peers.stop();
  }
}

async function startPeers() {
  const children: Child[] = [];
  const start = async (script: string) => {
    const path = join(import.meta.dirname, '../attack', script);
    const child = await startChild(process.execPath, [path], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    children.push(child);
    return new Asker(child);
  };
  return {
    fleet: await start('fleet.ts'),
    attacker: await start('attacker.ts'),
    stop: () => Promise.all(children.map((child) => child.stop())),
  };
}

function describe({ phases: seen, absentBecause, ...contest }: Standing): string[][] {
  if (absentBecause === null) return seen.map((phase) => describeOne(contest, phase));
  return [[titleOf(contest), absentBecause, ...Array.from({ length: 9 }, () => '–')]];
}

function describeOne(contest: Contest, { title, health, good, loop, got }: PhaseSeen): string[] {
  const { latency, failures } = good;
  const answers = latency === null ? {} : { ok: latency.count };
  return [
    titleOf(contest),
    title,
    formatMs(health.worstMs) + (health.refusals === 0 ? '' : `, ${health.refusals} refused`),
    latency === null ? 'no answer' : formatMs(latency.p99Ms),
    latency === null ? 'no answer' : formatMs(latency.maxMs),
    formatMs(loop.loopMaxMs),
    ...[formatMs(loop.turnCpuMaxMs), formatMs(loop.callCpuP99Ms)],
    health.residentBytes === null ? 'not measured' : formatMegabytes(health.residentBytes),
    formatTally({ ...answers, ...failures }),
    formatTally(got),
  ];
}

/** 12 × 200, 34,567 × 429 */
function formatTally(tally: Tally): string {
  const counts = Object.entries(tally).toSorted(([a], [b]) => a.localeCompare(b));
  if (counts.length === 0) return '–';
  return counts.map(([what, count]) => `${formatCount(count)} × ${what}`).join(', ');
}

/** The worst figure of all phases with an attack counts. */
function judge({ phases: seen, absentBecause, ...contest }: Standing): Verdict[] {
  const attacked = seen.filter(({ ids }) => ids.length > 0);
  const worst = (pick: (phase: PhaseSeen) => number | null) =>
    absentBecause !== null || attacked.length === 0
      ? null
      : Math.max(...attacked.map((phase) => pick(phase) ?? Number.POSITIVE_INFINITY));
  const rows = [
    ['worst health', '< 250 ms', worst(({ health }) => health.worstMs), targets.healthMs, formatMs],
    [
      ...(['agents p99', '< 200 ms', worst(({ good }) => good.latency?.p99Ms ?? null)] as const),
      ...([targets.goodMs, formatMs] as const),
    ],
    [
      ...(['memory', '< 600 MB', worst(({ health }) => health.residentBytes)] as const),
      ...([targets.memoryBytes, formatMegabytes] as const),
    ],
  ] as const;
  return rows.map(([what, target, value, limit, format]) => ({
    ...{ measure: 'P14', what: `beside an attacker, ${titleOf(contest)}: ${what}`, target },
    measured: value === null || !Number.isFinite(value) ? 'not measured' : format(value),
    met: value === null ? null : value < limit,
  }));
}

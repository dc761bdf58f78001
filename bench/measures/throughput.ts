import { type Contestant, describeAbsence, runContest, type Standing } from '../contest.ts';
import { httpPeer, hubCycles, noOp } from '../contestants.ts';
import { formatCoresEach, formatCount, formatRatio, formatSpread } from '../format.ts';
import type { MeasureName } from '../options.ts';
import type { Bar, Bench, Section, Verdict } from '../section.ts';
import { findMedian } from '../statistics.ts';

/** Requests per complete cycle. */
const REQUESTS_PER_CYCLE = 3;

interface Entrant {
  readonly contestant: Contestant;
  readonly measures: readonly MeasureName[];
  readonly tone: Bar['tone'];
}

/** P1, P2 and P3: complete cycles per second, all in one contest. */
export async function measureThroughput(bench: Bench): Promise<Section> {
  const { only } = bench.options;
  const entrants = listEntrants(bench).filter(({ measures }) =>
    measures.some((name) => only.has(name)),
  );
  const standings = await runContest(
    bench,
    entrants.map(({ contestant }) => contestant),
  );
  return {
    title: 'Throughput',
    table: {
      head: ['who', 'cycles/s', 'min–max', 'requests/s', 'cycle p50 / p99', 'cores used'],
      rows: standings.map(describe),
    },
    notes: [
      'A cycle is enqueue, claim and complete. For the hub and for the services these are three ' +
        'authenticated, validated, durable HTTP requests with their timeline events.',
      'Generator, server and database share the processor; “cores used” shows who was the limit, ' +
        'and what each cycle (of the no-op server: each request) took.',
      ...describeGenerator(standings),
    ],
    verdicts: judge(bench, standings),
    bars: standings.flatMap((standing, at) => barOf(standing, entrants[at]?.tone ?? 'hub')),
    raw: standings,
  };
}

function listEntrants(bench: Bench): Entrant[] {
  const hub = (engine: 'sqlite' | 'postgres', hubCount: number, connections: number) =>
    hubCycles(bench, { engine, hubCount, connections });
  return [
    { contestant: noOp(bench, 64), measures: ['P2'], tone: 'limit' },
    { contestant: hub('sqlite', 1, 64), measures: ['P1', 'P2', 'P3'], tone: 'hub' },
    { contestant: httpPeer(bench, 'bullmq', 64), measures: ['P1'], tone: 'peer' },
    { contestant: httpPeer(bench, 'graphile-worker', 64), measures: ['P1'], tone: 'peer' },
    { contestant: httpPeer(bench, 'pg-boss', 64), measures: ['P1'], tone: 'peer' },
    { contestant: hub('postgres', 1, 64), measures: ['P3'], tone: 'hub' },
    { contestant: hub('postgres', 2, 64), measures: ['P3'], tone: 'hub' },
  ];
}

/** The upper limit of the generator with a core of its own. */
function describeGenerator(standings: readonly Standing[]): string[] {
  const perCore = standings.filter(isNoOp).flatMap(({ perSecond, rounds }) => {
    if (perSecond === null) return [];
    return rounds.flatMap((round) => round.perSecond / (round.cores.generator ?? Number.NaN));
  });
  if (perCore.length === 0) return [];
  const most = findMedian(perCore);
  return [
    `The load generator takes ${(1_000_000 / most).toFixed(1)} µs of processor for a request: ` +
      `${formatCount(most)} requests/s of a whole core are the most that it could ask for.`,
  ];
}

function isNoOp({ id }: Standing): boolean {
  return id.startsWith('no-op');
}

function describe(standing: Standing): string[] {
  const { title, perSecond, rounds } = standing;
  if (perSecond === null) return [title, '–', '–', '–', '–', describeAbsence(standing)];
  const requests = isNoOp(standing) ? perSecond.median : perSecond.median * REQUESTS_PER_CYCLE;
  const hasRequests = isNoOp(standing) || /^(sqlite|postgres|service)-/.test(standing.id);
  const middle = rounds[Math.floor(rounds.length / 2)];
  const latency = middle?.latency.cycle;
  return [
    title,
    isNoOp(standing) ? '–' : formatCount(perSecond.median),
    isNoOp(standing) ? '–' : formatSpread(perSecond),
    hasRequests ? formatCount(requests) : '–',
    latency ? `${latency.p50Ms.toFixed(1)} / ${latency.p99Ms.toFixed(1)} ms` : '–',
    formatCoresEach(rounds),
  ];
}

function barOf({ id, title, perSecond }: Standing, tone: Bar['tone']): Bar[] {
  if (perSecond === null || id.startsWith('no-op')) return [];
  return [{ label: title, value: perSecond.median, ...perSecond, tone }];
}

interface Claim {
  readonly measure: MeasureName;
  readonly what: string;
  /** The IDs of the two compared contestants. */
  readonly of: readonly [string, string];
  readonly atLeast: number;
  /** The value of one unit of the first contestant in units of the second. */
  readonly factor?: number;
}

const claims: readonly Claim[] = [
  {
    measure: 'P1',
    what: 'hub on SQLite ÷ the same service on BullMQ, fsync always',
    of: ['sqlite-1-64', 'service-bullmq-64'],
    atLeast: 1.2,
  },
  {
    measure: 'P1',
    what: 'hub on SQLite ÷ the same service on graphile-worker',
    of: ['sqlite-1-64', 'service-graphile-worker-64'],
    atLeast: 6,
  },
  {
    measure: 'P1',
    what: 'hub on SQLite ÷ the same service on pg-boss',
    of: ['sqlite-1-64', 'service-pg-boss-64'],
    atLeast: 6,
  },
  {
    measure: 'P2',
    what: 'requests: hub on SQLite ÷ no-op server',
    of: ['sqlite-1-64', 'no-op-64'],
    atLeast: 0.2,
    factor: REQUESTS_PER_CYCLE,
  },
  {
    measure: 'P3',
    what: 'hub on PostgreSQL ÷ on SQLite',
    of: ['postgres-1-64', 'sqlite-1-64'],
    atLeast: 0.8,
  },
  {
    measure: 'P3',
    what: 'two hubs ÷ one hub on PostgreSQL',
    of: ['postgres-2-64', 'postgres-1-64'],
    atLeast: 1.3,
  },
];

function judge({ options }: Bench, standings: readonly Standing[]): Verdict[] {
  const medianOf = (id: string) => standings.find((one) => one.id === id)?.perSecond?.median;
  return claims
    .filter(({ measure }) => options.only.has(measure))
    .map(({ measure, what, of, atLeast, factor = 1 }) => {
      const [own, other] = of.map(medianOf);
      const target = `≥ ${atLeast}×`;
      if (own === undefined || other === undefined) {
        return { measure, what, target, measured: 'not measured', met: null };
      }
      const ratio = (own * factor) / other;
      return { measure, what, target, measured: formatRatio(ratio), met: ratio >= atLeast };
    });
}

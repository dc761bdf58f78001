import { endpoints } from '@signalbox/contract';
import { type Contestant, describeAbsence, runContest, type Standing } from '../contest.ts';
import { formatCoresEach, formatCount, formatRatio } from '../format.ts';
import { type LoadResult, runLoad } from '../load-process.ts';
import type { Bench, Section } from '../section.ts';
import { findMedian } from '../statistics.ts';
import { startHubWorld, withHubs } from '../subjects/hub.ts';
import { withStore } from '../subjects/store.ts';

const CONNECTIONS = 64;
const RATIO_MAX = 1.05;
const UNLIMITED = '0';
/** Far above what the load sends, so that the limiter counts every request and refuses none. */
const NEVER_REACHED = '1000000';

/**
 * P15: the cost of the limiter, by a request that does nothing else of weight: reading who one is.
 * Both hubs are measured in turn, round by round.
 */
export async function measureLimiter(bench: Bench): Promise<Section> {
  const standings = await runContest(bench, [
    withLimit(bench, 'limited', 'with limits', NEVER_REACHED),
    withLimit(bench, 'unlimited', 'without limits', UNLIMITED),
  ]);
  const [limited, unlimited] = standings;
  return {
    title: 'The cost of the limiter',
    table: {
      head: ['hub on SQLite', 'requests/s', 'cores used'],
      rows: standings.map(describe),
    },
    notes: [
      `${CONNECTIONS} connections with one token ask for tokens/whoami, which is answered from a ` +
        'cache. Slots are counted in both rows; without limits, the buckets are not.',
      describePairs(limited, unlimited),
    ],
    verdicts: [
      {
        measure: 'P15',
        what: 'processor time of a request: with limits ÷ without',
        target: '≤ 1.05×',
        ...judge(limited, unlimited),
      },
    ],
    bars: [],
    raw: standings,
  };
}

function withLimit(bench: Bench, id: string, title: string, rate: string): Contestant {
  const span = bench.options.quick
    ? { warmUpMs: 500, measureMs: 1_500 }
    : { warmUpMs: 3_000, measureMs: 10_000 };
  const settings = { SVC_LIMIT_TOKEN: rate, SVC_LIMIT_WORKSPACE: rate, SVC_LIMIT_ADDRESS: rate };
  return {
    id,
    title,
    absentBecause: null,
    run: () =>
      withStore(bench, 'sqlite', async (store) => {
        return withHubs(
          await startHubWorld(store, { settings }),
          async (world): Promise<LoadResult> => {
            const { targets, tokens, meters } = world;
            const { path } = endpoints.tokens.whoami;
            const load = { path, token: tokens[0] ?? '', connections: CONNECTIONS, bodies: ['{}'] };
            return runLoad({ kind: 'post', targets, ...load, ...span }, meters);
          },
        );
      }),
  };
}

/** The ratios of the rounds: each compares two measurements that followed one another. */
function ratiosOf(limited: Standing | undefined, unlimited: Standing | undefined): number[] {
  if (limited?.perSecond == null || unlimited?.perSecond == null) return [];
  return limited.rounds.flatMap((round, at) => {
    const [own, other] = [costOf(round), costOf(unlimited.rounds[at])];
    return own === null || other === null ? [] : [own / other];
  });
}

/** The hub's processor time for a request; null: not measured. */
function costOf(round: LoadResult | undefined): number | null {
  const cores = round?.cores.hub ?? null;
  return round === undefined || cores === null ? null : cores / round.perSecond;
}

function describePairs(limited: Standing | undefined, unlimited: Standing | undefined): string {
  const ratios = ratiosOf(limited, unlimited).map(formatRatio);
  return ratios.length === 0 ? 'No pair was measured.' : `With ÷ without: ${ratios.join(', ')}.`;
}

function judge(limited: Standing | undefined, unlimited: Standing | undefined) {
  const ratios = ratiosOf(limited, unlimited);
  if (ratios.length === 0) return { measured: 'not measured', met: null };
  const ratio = findMedian(ratios);
  return { measured: formatRatio(ratio), met: ratio <= RATIO_MAX };
}

function describe(standing: Standing): string[] {
  if (standing.perSecond === null) return [standing.title, '–', describeAbsence(standing)];
  const { median } = standing.perSecond;
  return [standing.title, formatCount(median), formatCoresEach(standing.rounds)];
}

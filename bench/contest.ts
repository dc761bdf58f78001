import { describeError, formatCoresEach, formatCount } from './format.ts';
import type { LoadResult } from './load-process.ts';
import type { Bench } from './section.ts';
import { findSpread, type Spread } from './statistics.ts';
import { ServerFailure } from './subjects/hub.ts';

/** A contestant in a measure: a hub on an engine, a peer, or the limit. */
export interface Contestant<Id extends string = string> {
  readonly id: Id;
  readonly title: string;
  /** Why the contestant cannot run here; null if it can. */
  readonly absentBecause: string | null;
  /** Runs one round on new data. @throws on any failure. */
  run(): Promise<LoadResult>;
}

/** The result of a contestant. After a failure it has no figure, not even of earlier rounds. */
export interface Standing {
  readonly id: string;
  readonly title: string;
  readonly rounds: readonly LoadResult[];
  readonly absentBecause: string | null;
  readonly failure: string | null;
  readonly perSecond: Spread | null;
}

/** Runs all contestants in turn, round by round, so that disturbances affect all of them. */
export async function runContest(
  bench: Bench,
  contestants: readonly Contestant[],
): Promise<Standing[]> {
  const rounds = new Map<string, LoadResult[]>();
  const failures = new Map<string, string>();
  for (let round = 1; round <= bench.options.rounds; round++) {
    for (const { id, title, absentBecause, run } of contestants) {
      if (absentBecause !== null || failures.has(id)) continue;
      try {
        const result = await run();
        rounds.set(id, [...(rounds.get(id) ?? []), result]);
        bench.say(`  round ${round}  ${title}: ${describeRound(result)}`);
      } catch (error) {
        failures.set(id, describeError(error));
        bench.say(`  round ${round}  ${title} failed: ${failures.get(id)}`);
        if (error instanceof ServerFailure) bench.say(error.serverLog);
      }
    }
  }
  return contestants.map(({ id, title, absentBecause }) => {
    const own = rounds.get(id) ?? [];
    const failure = failures.get(id) ?? null;
    const isWhole = failure === null && own.length > 0;
    const perSecond = isWhole ? findSpread(own.map((result) => result.perSecond)) : null;
    return { id, title, rounds: own, absentBecause, failure, perSecond };
  });
}

function describeRound(result: LoadResult): string {
  return `${formatCount(result.perSecond)}/s; cores: ${formatCoresEach([result])}`;
}

/** Why a contestant has no figure. */
export function describeAbsence({ absentBecause, failure }: Standing): string {
  return absentBecause === null ? `failed: ${failure}` : `absent: ${absentBecause}`;
}

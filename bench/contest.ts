import type { Bench } from './bench.ts';
import { formatCount, type Standing } from './figure.ts';
import type { LoadResult } from './load-process.ts';
import { describeError } from './project.ts';

/** A contestant of a measure: a hub on an engine, a peer, or the limit. */
export interface Contestant {
  readonly title: string;
  /** Runs one round on new data. @throws on any failure. */
  run(): Promise<LoadResult>;
}

/** Runs all contestants in turn, round by round, so that disturbances affect all of them. */
export async function runContest<Id extends string>(
  { options, say }: Bench,
  contestants: Readonly<Record<Id, Contestant>>,
  roundCount = options.rounds,
): Promise<Record<Id, Standing>> {
  const ids = Object.keys(contestants) as Id[];
  const standings = ids.map((id) => ({ id, rounds: [] as LoadResult[], failure: '' }));
  for (let round = 1; round <= roundCount; round++) {
    for (const standing of standings) {
      if (standing.failure !== '') continue;
      const { title, run } = contestants[standing.id];
      try {
        const result = await run();
        standing.rounds.push(result);
        say(`  round ${round}  ${title}: ${describeRound(result)}`);
      } catch (error) {
        standing.failure = describeError(error);
        say(`  round ${round}  ${title} failed: ${standing.failure}`);
      }
    }
  }
  const entries = standings.map(({ id, rounds, failure }) => [
    id,
    { rounds, failure: failure || null },
  ]);
  // One entry for each contestant.
  return Object.fromEntries(entries) as Record<Id, Standing>;
}

/** With the processor time of each cycle or call, which can be compared on a busy machine. */
function describeRound({ perSecond, cores }: LoadResult): string {
  const used = Object.entries(cores).map(([name, value]) => {
    if (value === null) return `${name} ?`;
    return `${name} ${value.toFixed(2)} (${Math.round((value * 1_000_000) / perSecond)} µs each)`;
  });
  return `${formatCount(perSecond)}/s; cores: ${used.join(', ')}`;
}

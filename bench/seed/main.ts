// Seeds in a process of its own: SQLite works for minutes without a pause, and a bench that is
// interrupted meanwhile must end at once.
import { describeError } from '../format.ts';
import { openSeedDatabase } from './seed-database.ts';
import { seedJobs } from './seed-jobs.ts';
import type { SeedNews, SeedOrder } from './seed-process.ts';

process.once('message', (order) => {
  // Whoever sends it has named this script, so it is an order of this kind.
  seed(order as SeedOrder).then(
    () => finish({ kind: 'done' }),
    (error: unknown) => finish({ kind: 'failure', message: describeError(error) }),
  );
});
process.once('disconnect', () => process.exit(1));

async function seed({ store, jobs, counts }: SeedOrder): Promise<void> {
  const database = await openSeedDatabase(store);
  try {
    await seedJobs(database, jobs, counts, (line) => process.send?.({ kind: 'line', line }));
  } finally {
    await database.close();
  }
}

function finish(news: SeedNews): void {
  process.send?.(news, undefined, {}, () => process.exit(0));
}

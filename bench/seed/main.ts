// Seeds in a separate process: SQLite works for minutes without a pause, and an interrupted bench
// must end immediately.
import { describeError } from '../format.ts';
import { openSeedDatabase } from './seed-database.ts';
import { seedJobs } from './seed-jobs.ts';
import type { SeedMessage, SeedOrder } from './seed-process.ts';

process.once('message', (order) => {
  // The sender selected this script, so the message has this type.
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

function finish(message: SeedMessage): void {
  process.send?.(message, undefined, {}, () => process.exit(0));
}

// Seeds the database of a hub for the bench: its argument is the order, as JSON. It prints the ID
// of the job with the long timeline.
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { openDatabase, withoutLimits } from '../../src/db/open-database.ts';
import { readConfig } from '../../src/start/config.ts';
import { seedEvents, seededJobId, seedJobs } from './seed-database.ts';

interface Order {
  dataDir: string;
  databaseUrl: string | null;
  workspaceId: string;
  repoId: string;
  agentId: string;
  pending: number;
  finished: number;
  events: number;
}

// The starter is bench/subjects/seed.ts.
const order = JSON.parse(process.argv[2] ?? '') as Order;
const { dataDir, databaseUrl, workspaceId, pending, finished, events } = order;
const env = databaseUrl === null ? {} : { SVC_DATABASE_URL: databaseUrl };
const config = readConfig({ ...env, SVC_DATA_DIR: dataDir });
/** The latest job is a minute old, so that the jobs of a load come last. */
const startMs = Date.now() - finished - pending - 60_000;

const database = await openDatabase(config, join(dataDir, 'signalbox.db'), systemClock);
await withoutLimits(config, database, async (unlimited) => {
  await seedJobs(unlimited, {
    workspaceId,
    repoIds: [order.repoId],
    agentIds: [order.agentId],
    pending,
    finished,
    startMs,
    rebuildIndexes: finished > 1_000_000,
    onProgress: (line) => process.send?.(line),
  });
  const jobId = seededJobId(startMs, 0);
  await seedEvents(unlimited, { workspaceId, jobId, atMs: startMs }, events);
  process.stdout.write(`${jobId}\n`);
});
await database.close();
process.disconnect?.();

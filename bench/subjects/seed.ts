import { join } from 'node:path';
import { startProcess } from '../../scripts/process/start-process.ts';
import type { Bench } from '../bench.ts';
import type { EngineName } from '../options.ts';
import { projectRoot } from '../project.ts';
import {
  failureOf,
  type HubWorld,
  registerAgents,
  startHubs,
  stopHubs,
  targetOf,
  withHubs,
} from './hub.ts';
import { ask } from './postgres.ts';
import type { HubStore } from './store.ts';

/** Numbers of rows to seed. */
export interface SeedCounts {
  readonly pending: number;
  readonly finished: number;
  /** Further events in the timeline of the first finished job. */
  readonly events: number;
}

export interface SeededWorld extends HubWorld {
  /** The job with the long timeline. */
  readonly loggedJobId: string;
}

/** One token reads more pages a second than the limits of a caller allow. */
const settings = { SVC_LIMIT_TOKEN: '0', SVC_LIMIT_WORKSPACE: '0' };

/** Passes a hub with as much data as after years of use to an action. */
export function withSeededHub<T>(
  bench: Bench,
  engine: EngineName,
  counts: SeedCounts,
  act: (world: SeededWorld, store: HubStore) => Promise<T>,
): Promise<T> {
  return withHubs(bench, engine, { tokenCount: 8 }, async (fresh, store) => {
    const [agent] = await registerAgents(fresh, 1);
    // A hub keeps rows in memory, so it must not run meanwhile.
    await fresh.stop();
    const loggedJobId = await seed(store, fresh, agent?.agentId ?? '', counts, bench.say);
    const hubs = await startHubs(store, 1, { settings });
    const meters = { ...fresh.meters, hub: hubs[0]?.pid ?? 0 };
    const world = { ...fresh, hubs, targets: hubs.map(targetOf), meters, loggedJobId };
    try {
      return await act(world, store);
    } catch (error) {
      throw failureOf(error, hubs);
    } finally {
      await stopHubs(hubs);
    }
  });
}

/**
 * Writes the jobs straight in SQL: through the API millions of jobs take hours. The hub's tests
 * know its tables, so their seeder does it, in a separate process: it works for minutes without a
 * pause, and an interrupted bench must end immediately.
 *
 * @returns the ID of the job with the long timeline.
 */
async function seed(
  { dataDir, databaseUrl }: HubStore,
  { workspaceId, repoId }: HubWorld,
  agentId: string,
  counts: SeedCounts,
  say: (line: string) => void,
): Promise<string> {
  const order = { dataDir, databaseUrl, workspaceId, repoId, agentId, ...counts };
  const script = join(projectRoot, 'packages/hub/test/support/seed-main.ts');
  const child = startProcess(process.execPath, [script, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  child.child.on('message', (line: string) => say(`    ${line}`));
  const { code } = await child.ended;
  const jobId = /^job_\w+$/m.exec(child.stdout)?.[0];
  if (code !== 0 || jobId === undefined)
    throw new Error(`the seeding failed:\n${child.stdout}${child.stderr}`);
  // As would have happened over time.
  if (databaseUrl !== null) await ask(databaseUrl, 'VACUUM (ANALYZE)');
  return jobId;
}

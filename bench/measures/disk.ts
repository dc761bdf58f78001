import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { describeError, formatCount } from '../format.ts';
import { runLoad } from '../load-process.ts';
import type { Bench, Section, Verdict } from '../section.ts';
import { type HubStore, registerAgents, startHubWorld, withHubs } from '../subjects/hub.ts';
import { type EngineName, engineTitles, findAbsence, withStore } from '../subjects/store.ts';

const CONNECTIONS = 32;
const BYTES_MAX = 1_400;

interface Standing {
  readonly engine: EngineName;
  readonly absentBecause: string | null;
  readonly jobs: number;
  readonly bytesPerJob: number;
}

/** P13: what a finished job with its three events takes on the disk. */
export async function measureDisk(bench: Bench): Promise<Section> {
  const standings: Standing[] = [];
  for (const engine of ['sqlite', 'postgres'] as const) {
    standings.push(await measureEngine(bench, engine));
  }
  return {
    title: 'Disk',
    table: {
      head: ['hub on', 'finished jobs', 'bytes of a job'],
      rows: standings.map(({ engine, jobs, bytesPerJob, absentBecause }) =>
        absentBecause === null
          ? [engineTitles[engine], formatCount(jobs), formatCount(bytesPerJob)]
          : [engineTitles[engine], absentBecause, '–'],
      ),
    },
    notes: [
      'Each job has a prompt of 400 bytes and was enqueued, claimed and completed. The growth of ' +
        'the database, without its log, divided by the number of jobs.',
    ],
    verdicts: standings.map(judge),
    bars: [],
    raw: standings,
  };
}

async function measureEngine(bench: Bench, engine: EngineName): Promise<Standing> {
  const nothing = { engine, jobs: 0, bytesPerJob: 0 };
  const absentBecause = findAbsence(bench, engine);
  if (absentBecause !== null) return { ...nothing, absentBecause };
  try {
    return await withStore(bench, engine, async (store) => {
      const { jobs, beforeBytes } = await finishJobs(bench, store);
      // The hub has stopped, so SQLite's log is in the file.
      const bytesPerJob = ((await readDatabaseBytes(store)) - beforeBytes) / jobs;
      bench.say(`  ${engineTitles[engine]}: ${formatCount(bytesPerJob)} bytes a job`);
      return { engine, absentBecause: null, jobs, bytesPerJob };
    });
  } catch (error) {
    return { ...nothing, absentBecause: `failed: ${describeError(error)}` };
  }
}

async function finishJobs(
  { options }: Bench,
  store: HubStore,
): Promise<{ jobs: number; beforeBytes: number }> {
  const world = await startHubWorld(store, { tokenCount: CONNECTIONS });
  return withHubs(world, async (running) => {
    const agents = await registerAgents(running, CONNECTIONS);
    const beforeBytes = await readDatabaseBytes(store);
    const { workspaceId, repoId, targets } = running;
    const { totals } = await runLoad(
      {
        ...{ kind: 'cycles', workspaceId, repoId, targets, agents, hasBacklog: false },
        ...{ warmUpMs: 0, measureMs: options.quick ? 4_000 : 15_000 },
      },
      {},
    );
    return { jobs: totals.completed ?? 0, beforeBytes };
  });
}

async function readDatabaseBytes({ dataDir, databaseUrl }: HubStore): Promise<number> {
  if (databaseUrl === null) return statSync(join(dataDir, 'signalbox.db')).size;
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ bytes: string }>(
      'SELECT pg_database_size(current_database()) AS bytes',
    );
    return Number(rows[0]?.bytes);
  } finally {
    await client.end();
  }
}

function judge({ engine, bytesPerJob, absentBecause }: Standing): Verdict {
  const isMeasured = absentBecause === null;
  return {
    measure: 'P13',
    what: `a finished job on the disk, ${engineTitles[engine]}`,
    target: `≤ ${formatCount(BYTES_MAX)} bytes`,
    measured: isMeasured ? `${formatCount(bytesPerJob)} bytes` : 'not measured',
    met: isMeasured ? bytesPerJob <= BYTES_MAX : null,
  };
}

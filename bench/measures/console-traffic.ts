import { join } from 'node:path';
import { type Contestant, describeAbsence, runContest, type Standing } from '../contest.ts';
import { formatCoresEach, formatCount } from '../format.ts';
import type { FleetLoad } from '../load/fleet-load.ts';
import { type LoadResult, runLoad } from '../load-process.ts';
import type { Bench, Section, Verdict } from '../section.ts';
import { Asker } from '../subjects/asking.ts';
import { type HubWorld, startHubWorld, withHubs } from '../subjects/hub.ts';
import type { HubSeen } from '../subjects/hub-probe.ts';
import { withStore } from '../subjects/store.ts';

const WATCHERS = 50;
const OUTPUT_INTERVAL_MS = 1_000;
const STATEMENTS_TARGET = 1.5;
const TOKENS = 8;

/**
 * P12: what people who watch one running job cost. The same job without watchers is the baseline,
 * so that only the watchers' statements and processor time are counted.
 */
export async function measureConsoleTraffic(bench: Bench): Promise<Section> {
  const options = { ...bench.options, rounds: 1 };
  const standings = await runContest({ ...bench, options }, [
    watched(bench, 0),
    watched(bench, 1),
    watched(bench, WATCHERS),
  ]);
  const [alone, one, many] = standings;
  const statements = statementsOf(many, alone);
  return {
    title: 'People who watch one running job',
    table: {
      head: [
        ...['browsers', 'statements per output', 'reads per output', 'bytes per output'],
        ...['messages per output', 'cores used, per output'],
      ],
      rows: standings.map(describe),
    },
    notes: [
      `SQLite; 1 KB of output every ${OUTPUT_INTERVAL_MS / 1_000} s. A browser follows the stream ` +
        'of changes and reads the job, the size of its log and the last page, as the console does. ' +
        'Bytes are those of the streams and of the bodies of answers, uncompressed.',
      `Statements of the watchers for each output: ${formatOr(statementsOf(one, alone))} with one ` +
        `browser, ${formatOr(statements)} with ${WATCHERS}.`,
    ],
    verdicts: [judge(statements)],
    bars: [],
    raw: standings,
  };
}

function judge(statements: number | null): Verdict {
  return {
    measure: 'P12',
    what: `${WATCHERS} watchers of a job: statements for each output`,
    target: '1',
    measured: formatOr(statements),
    met: statements === null ? null : statements <= STATEMENTS_TARGET,
  };
}

function watched(bench: Bench, watcherCount: number): Contestant {
  const nodeFlags = ['--import', join(import.meta.dirname, '../subjects/hub-probe.ts')];
  return {
    id: `${watcherCount}`,
    title: formatCount(watcherCount),
    absentBecause: null,
    run: () =>
      withStore(bench, 'sqlite', async (store) => {
        const how = { tokenCount: TOKENS, nodeFlags, hasChannel: true };
        const started = await startHubWorld(store, how);
        return withHubs(started, (world) => runWatched(bench, world, watcherCount));
      }),
  };
}

async function runWatched(
  { options }: Bench,
  world: HubWorld,
  watcherCount: number,
): Promise<LoadResult> {
  const { workspaceId, repoId, tokens } = world;
  const [target] = world.targets;
  const [hub] = world.hubs;
  if (target === undefined || hub === undefined) throw new Error('a world must have a hub');
  const load: FleetLoad = {
    ...{ kind: 'fleet', workspaceId, repoId, tokens, target, agentCount: 1 },
    ...{ watcherCount, watchesOneJob: true, outputIntervalMs: OUTPUT_INTERVAL_MS },
    ...{ usesReports: false, warmUpMs: 3_000, measureMs: options.quick ? 5_000 : 20_000 },
  };
  const probe = new Asker(hub);
  const seen: Promise<HubSeen>[] = [];
  const result = await runLoad(load, world.meters, () => {
    seen.push(probe.ask<HubSeen>('collect'));
  });
  const measured = await seen[1];
  if (measured === undefined) throw new Error('the hub was not asked at the end');
  // Figures are for each output, so outputs are what is counted here.
  const count = result.totals.outputs ?? 0;
  const perSecond = count / result.seconds;
  return { ...result, count, perSecond, totals: { ...result.totals, ...measured } };
}

/** Of a total: for each output. */
function perOutput(standing: Standing | undefined, name: string): number | null {
  const round = standing?.rounds[0];
  if (standing?.perSecond == null || round === undefined) return null;
  return (round.totals[name] ?? 0) / round.count;
}

function statementsOf(standing: Standing | undefined, alone: Standing | undefined): number | null {
  const [all, own] = [perOutput(standing, 'statements'), perOutput(alone, 'statements')];
  return all === null || own === null ? null : all - own;
}

function describe(standing: Standing): string[] {
  if (standing.perSecond === null) {
    return [standing.title, describeAbsence(standing), '–', '–', '–', '–'];
  }
  const bytes = perOutput(standing, 'watcherBytes') ?? 0;
  return [
    standing.title,
    formatOr(perOutput(standing, 'statements')),
    formatOr(perOutput(standing, 'watcherReads')),
    formatCount(bytes),
    formatOr(perOutput(standing, 'changeMessages')),
    formatCoresEach(standing.rounds),
  ];
}

function formatOr(value: number | null): string {
  return value === null ? 'not measured' : value.toFixed(1);
}

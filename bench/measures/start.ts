import { setTimeout as wait } from 'node:timers/promises';
import { endpoints } from '@signalbox/contract';
import { formatMegabytes, formatMs } from '../format.ts';
import { readResidentBytes } from '../processor-use.ts';
import type { Bench, Section, Verdict } from '../section.ts';
import { findMedian } from '../statistics.ts';
import { baseUrlOf, type HubStore, startHubs, stopHubs, targetOf } from '../subjects/hub.ts';
import { type EngineName, engineTitles, findAbsence, withStore } from '../subjects/store.ts';

const engines: readonly EngineName[] = ['sqlite', 'postgres'];

interface StartRound {
  readonly firstMs: number;
  readonly againMs: number;
  /** Null: not measured on this system. */
  readonly idleBytes: number | null;
}

type Rounds = Readonly<Record<EngineName, StartRound[]>>;

/** P7: the time from process start to the first health answer, and memory when idle. */
export async function measureStart(bench: Bench): Promise<Section> {
  const rounds: Rounds = { sqlite: [], postgres: [] };
  const idleMs = bench.options.quick ? 1_500 : 10_000;
  // The first start after a change of sources builds and compiles them.
  await withStore(bench, 'sqlite', async (store) => stopHubs(await startHubs(store)));
  for (let round = 1; round <= bench.options.rounds; round++) {
    for (const engine of engines) {
      if (findAbsence(bench, engine) !== null) continue;
      const result = await withStore(bench, engine, (store) => runRound(store, idleMs));
      rounds[engine].push(result);
      bench.say(
        `  round ${round}  ${engineTitles[engine]}: first ${formatMs(result.firstMs)}, ` +
          `again ${formatMs(result.againMs)}, idle ${formatBytes(result.idleBytes)}`,
      );
    }
  }
  return {
    title: 'Start',
    table: {
      head: ['hub on', 'first start', 'existing database', 'memory when idle'],
      rows: engines.map((engine) => describe(bench, engine, rounds[engine])),
    },
    notes: [
      'From the start of the process until it has answered its health with 200. Memory is what is ' +
        `resident ${idleMs / 1_000} s after the second start.`,
    ],
    verdicts: judge(rounds.sqlite),
    bars: [],
    raw: rounds,
  };
}

async function runRound(store: HubStore, idleMs: number): Promise<StartRound> {
  const first = await startTimed(store);
  await stopHubs(first.hubs);
  const again = await startTimed(store);
  await wait(idleMs);
  const idleBytes = readResidentBytes(again.hubs[0]?.pid ?? 0);
  await stopHubs(again.hubs);
  return { firstMs: first.tookMs, againMs: again.tookMs, idleBytes };
}

async function startTimed(store: HubStore) {
  const beganMs = performance.now();
  const hubs = await startHubs(store);
  const [hub] = hubs;
  if (hub === undefined) throw new Error('no hub was started');
  const response = await fetch(baseUrlOf(targetOf(hub)) + endpoints.health.health.path);
  const tookMs = performance.now() - beganMs;
  if (response.status !== 200) throw new Error(`health: ${response.status}`);
  return { hubs, tookMs };
}

function summarize(rounds: readonly StartRound[]) {
  const bytes = rounds.flatMap(({ idleBytes }) => idleBytes ?? []);
  return {
    firstMs: findMedian(rounds.map(({ firstMs }) => firstMs)),
    againMs: findMedian(rounds.map(({ againMs }) => againMs)),
    idleBytes: bytes.length === 0 ? null : findMedian(bytes),
  };
}

function describe(bench: Bench, engine: EngineName, rounds: readonly StartRound[]): string[] {
  const absence = findAbsence(bench, engine);
  if (absence !== null) return [engineTitles[engine], `absent: ${absence}`, '–', '–'];
  const { firstMs, againMs, idleBytes } = summarize(rounds);
  return [engineTitles[engine], formatMs(firstMs), formatMs(againMs), formatBytes(idleBytes)];
}

function formatBytes(bytes: number | null): string {
  return bytes === null ? 'not measured' : formatMegabytes(bytes);
}

function judge(rounds: readonly StartRound[]): Verdict[] {
  const { firstMs, againMs, idleBytes } = summarize(rounds);
  const rule = { measure: 'P7' } as const;
  return [
    {
      ...{ ...rule, what: 'start on an existing database', target: '≤ 300 ms' },
      ...{ measured: formatMs(againMs), met: againMs <= 300 },
    },
    {
      ...{ ...rule, what: 'first start', target: '≤ 450 ms' },
      ...{ measured: formatMs(firstMs), met: firstMs <= 450 },
    },
    {
      ...{ ...rule, what: 'memory when idle', target: '≤ 110 MB' },
      measured: formatBytes(idleBytes),
      met: idleBytes === null ? null : idleBytes <= 110_000_000,
    },
  ];
}

import { setTimeout as wait } from 'node:timers/promises';
import { endpoints } from '@signalbox/contract';
import type { Bench } from '../bench.ts';
import { type Figure, formatValue } from '../figure.ts';
import { readResidentBytes } from '../processor-use.ts';
import { baseUrlOf, startHubs, stopHubs, targetOf } from '../subjects/hub.ts';
import { type HubStore, withStore } from '../subjects/store.ts';

/** P7: the time from process start to the first health answer, and memory when idle. */
export async function measureStart(bench: Bench): Promise<Figure[]> {
  const idleMs = bench.options.quick ? 1_500 : 10_000;
  const rounds: { firstMs: number; againMs: number; idleMegabytes: number }[] = [];
  // The first start after a change of sources builds and compiles them.
  await withStore(bench, 'sqlite', async (store) => stopHubs(await startHubs(store)));
  for (let round = 1; round <= bench.options.rounds; round++) {
    const result = await withStore(bench, 'sqlite', (store) => runRound(store, idleMs));
    rounds.push(result);
    const times = [result.firstMs, result.againMs].map((each) => formatValue(each, 'ms'));
    bench.say(`  round ${round}  ${times.join(', again ')}`);
  }
  const row = { measure: 'P7' } as const;
  const ms = { ...row, unit: 'ms' } as const;
  const memory = rounds.map(({ idleMegabytes }) => idleMegabytes);
  return [
    {
      ...ms,
      what: 'start on an existing database',
      atMost: 500,
      values: rounds.map(({ againMs }) => againMs),
    },
    { ...ms, what: 'first start', atMost: 700, values: rounds.map(({ firstMs }) => firstMs) },
    { ...row, what: 'memory when idle', unit: 'MB', atMost: 130, values: memory },
  ];
}

async function runRound(store: HubStore, idleMs: number) {
  const first = await startTimed(store);
  await stopHubs(first.hubs);
  const again = await startTimed(store);
  await wait(idleMs);
  const idleBytes = readResidentBytes(again.hubs[0]?.pid ?? 0);
  await stopHubs(again.hubs);
  const idleMegabytes = (idleBytes ?? Number.NaN) / 1e6;
  return { firstMs: first.tookMs, againMs: again.tookMs, idleMegabytes };
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

import { once } from 'node:events';
import { join } from 'node:path';
import { startChild } from './child.ts';
import type { LoadMessage, LoadReport } from './load/load-report.ts';
import type { LoadSpec } from './load/load-spec.ts';
import type { SpanSpec } from './load/span.ts';
import { readCpuMs } from './processor-use.ts';

/** Beyond warm-up and measured time: connections, the last long polls, the check at the end. */
const LOAD_GRACE_MS = 120_000;

/** What one round of a load gave. */
export interface LoadResult extends LoadReport {
  /** `count` by `seconds`. */
  readonly perSecond: number;
  /** Processor use in cores, in the measured time, by what was metered; null: not measured. */
  readonly cores: Readonly<Record<string, number | null>>;
}

/** Process ids by the name under which their processor use is told; descendants count as well. */
export type Meters = Readonly<Record<string, number>>;

/** Runs the hub's load generator. @throws Error when anything in the load went wrong. */
export function runLoad(spec: LoadSpec, meters: Meters): Promise<LoadResult> {
  return runLoadScript('load/main.ts', spec, meters);
}

/** Runs a script of `bench/` that takes its orders by message, as the load generator does. */
export async function runLoadScript(
  script: string,
  spec: SpanSpec,
  meters: Meters,
): Promise<LoadResult> {
  const child = await startChild(process.execPath, [join(import.meta.dirname, script)], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const gauge = new Gauge(meters);
  const report = Promise.withResolvers<LoadReport>();
  child.process.on('message', (message: LoadMessage) => {
    if (message.kind === 'mark') gauge.note();
    else if (message.kind === 'report') report.resolve(message.report);
    else report.reject(new Error(message.message));
  });
  const limitMs = spec.warmUpMs + spec.measureMs + LOAD_GRACE_MS;
  const limit = setTimeout(() => report.reject(new Error('the load does not end')), limitMs);
  once(child.process, 'close').then(
    () => report.reject(new Error(`the load's process ended:\n${child.output()}`)),
    report.reject,
  );
  child.process.send(spec);
  try {
    const seen = await report.promise;
    const cores = { ...gauge.cores(), generator: seen.generatorCpuMs / (seen.seconds * 1_000) };
    return { ...seen, perSecond: seen.count / seen.seconds, cores };
  } finally {
    clearTimeout(limit);
    await child.stop();
  }
}

/** Reads the processor time of processes at both ends of the measured time. */
class Gauge {
  readonly #meters: Meters;
  readonly #read: { atMs: number; cpuMs: Record<string, number | null> }[] = [];

  constructor(meters: Meters) {
    this.#meters = meters;
  }

  note(): void {
    const entries = Object.entries(this.#meters);
    const cpuMs = Object.fromEntries(entries.map(([name, pid]) => [name, readCpuMs(pid)]));
    this.#read.push({ atMs: performance.now(), cpuMs });
  }

  cores(): Record<string, number | null> {
    const [begin, end] = this.#read;
    const names = Object.keys(this.#meters);
    if (begin === undefined || end === undefined) {
      return Object.fromEntries(names.map((name) => [name, null]));
    }
    const elapsedMs = end.atMs - begin.atMs;
    return Object.fromEntries(
      names.map((name) => {
        const [before, after] = [begin.cpuMs[name] ?? null, end.cpuMs[name] ?? null];
        return [name, before === null || after === null ? null : (after - before) / elapsedMs];
      }),
    );
  }
}

import { join } from 'node:path';
import { startProcess } from '../scripts/process/start-process.ts';
import { readProcessorMs } from '../scripts/test/processor-time.ts';
import type { LoadMessage, LoadReport } from './load/load-report.ts';
import type { LoadSpec } from './load/main.ts';
import type { Mark } from './load/span.ts';
import { readResidentBytes } from './processor-use.ts';

/** Time beyond warm-up and measurement: connections, the last long polls, the final check. */
const LOAD_GRACE_MS = 120_000;

/** The result of one round of a load. */
export interface LoadResult extends LoadReport {
  /** `count` divided by `seconds`. */
  readonly perSecond: number;
  /** Processor use in cores during the measurement, by meter; null: not measured. */
  readonly cores: Readonly<Record<string, number | null>>;
  /**
   * Resident memory of each metered process: the larger value of start and end of the measurement.
   */
  readonly residentBytes: Readonly<Record<string, number | null>>;
}

/** Process IDs by meter name. Descendants count as well. */
export type Meters = Readonly<Record<string, number>>;

/** Runs the load generator. @throws Error if the load fails. */
export async function runLoad(
  spec: LoadSpec,
  meters: Meters,
  onMark: (mark: Mark) => void = () => undefined,
): Promise<LoadResult> {
  const script = join(import.meta.dirname, 'load/main.ts');
  const child = startProcess(process.execPath, [script], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const gauge = new Gauge(meters);
  const report = Promise.withResolvers<LoadReport>();
  child.child.on('message', (message: LoadMessage) => {
    if (message.kind === 'mark') {
      gauge.note();
      onMark(message.mark);
    } else if (message.kind === 'report') report.resolve(message.report);
    else report.reject(new Error(message.message));
  });
  const limitMs = spec.warmUpMs + spec.measureMs + LOAD_GRACE_MS;
  const limit = setTimeout(
    () => report.reject(new Error('the load exceeds its time limit')),
    limitMs,
  );
  const lost = () => new Error(`the load's process ended:\n${child.stdout}${child.stderr}`);
  child.ended.then(() => report.reject(lost()), report.reject);
  child.child.send(spec);
  try {
    const seen = await report.promise;
    const cores = { ...gauge.cores(), generator: seen.generatorCpuMs / (seen.seconds * 1_000) };
    return {
      ...seen,
      perSecond: seen.count / seen.seconds,
      cores,
      residentBytes: gauge.residentBytes(),
    };
  } finally {
    clearTimeout(limit);
    await child.stop();
  }
}

interface Reading {
  readonly atMs: number;
  readonly cpuMs: number | null;
  readonly bytes: number | null;
}

/** Reads processor time and memory of processes at the start and end of the measurement. */
class Gauge {
  readonly #meters: Meters;
  readonly #read = new Map<string, Reading[]>();

  constructor(meters: Meters) {
    this.#meters = meters;
  }

  note(): void {
    for (const [name, pid] of Object.entries(this.#meters)) {
      const known = this.#read.get(name) ?? [];
      const reading = { cpuMs: readProcessorMs(pid), bytes: readResidentBytes(pid) };
      this.#read.set(name, [...known, { atMs: performance.now(), ...reading }]);
    }
  }

  cores(): Record<string, number | null> {
    return this.#map(([begin, end]) => {
      if (begin == null || end == null || begin.cpuMs === null || end.cpuMs === null) return null;
      return (end.cpuMs - begin.cpuMs) / (end.atMs - begin.atMs);
    });
  }

  residentBytes(): Record<string, number | null> {
    return this.#map((readings) => {
      const values = readings.flatMap(({ bytes }) => bytes ?? []);
      return values.length === 0 ? null : Math.max(...values);
    });
  }

  #map<T>(of: (readings: readonly Reading[]) => T): Record<string, T> {
    return Object.fromEntries([...this.#read].map(([name, readings]) => [name, of(readings)]));
  }
}

import { once } from 'node:events';
import { join } from 'node:path';
import { startChild } from './child.ts';
import type { LoadMessage, LoadReport } from './load/load-report.ts';
import type { LoadSpec } from './load/load-spec.ts';
import type { Mark, SpanSpec } from './load/span.ts';
import { readCpuMs, readResidentBytes, readWrittenBytes } from './processor-use.ts';

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
  /** Bytes a second that each meter has written to a disk. */
  readonly writtenPerSecond: Readonly<Record<string, number | null>>;
}

/** Process IDs by meter name. Descendants count as well. */
export type Meters = Readonly<Record<string, number>>;

/** Runs the hub's load generator. @throws Error if the load fails. */
export function runLoad(
  spec: LoadSpec,
  meters: Meters,
  onMark?: (mark: Mark) => void,
): Promise<LoadResult> {
  return runLoadScript('load/main.ts', spec, meters, onMark);
}

/** Runs a script of `bench/` that receives its spec by message, like the load generator. */
export async function runLoadScript(
  script: string,
  spec: SpanSpec,
  meters: Meters,
  onMark: (mark: Mark) => void = () => undefined,
): Promise<LoadResult> {
  const child = await startChild(process.execPath, [join(import.meta.dirname, script)], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const gauge = new Gauge(meters);
  const report = Promise.withResolvers<LoadReport>();
  child.process.on('message', (message: LoadMessage) => {
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
  once(child.process, 'close').then(
    () => report.reject(new Error(`the load's process ended:\n${child.output()}`)),
    report.reject,
  );
  child.process.send(spec);
  try {
    const seen = await report.promise;
    const cores = { ...gauge.cores(), generator: seen.generatorCpuMs / (seen.seconds * 1_000) };
    return {
      ...seen,
      perSecond: seen.count / seen.seconds,
      cores,
      residentBytes: gauge.residentBytes(),
      writtenPerSecond: gauge.writtenPerSecond(),
    };
  } finally {
    clearTimeout(limit);
    await child.stop();
  }
}

/** Reads processor time and memory of processes at the start and end of the measurement. */
class Gauge {
  readonly #meters: Meters;
  readonly #read: Reading[] = [];

  constructor(meters: Meters) {
    this.#meters = meters;
  }

  note(): void {
    this.#read.push({
      atMs: performance.now(),
      cpuMs: this.#map((pid) => readCpuMs(pid)),
      bytes: this.#map((pid) => readResidentBytes(pid)),
      written: this.#map((pid) => readWrittenBytes(pid)),
    });
  }

  cores(): Record<string, number | null> {
    return this.#rates(({ cpuMs }) => cpuMs, 1);
  }

  writtenPerSecond(): Record<string, number | null> {
    return this.#rates(({ written }) => written, 1_000);
  }

  residentBytes(): Record<string, number | null> {
    return this.#map((_pid, name) => {
      const values = this.#read.flatMap(({ bytes }) => bytes[name] ?? []);
      return values.length === 0 ? null : Math.max(...values);
    });
  }

  /** The growth of a value per millisecond, times `scale`. */
  #rates(
    pick: (reading: Reading) => Readonly<Record<string, number | null>>,
    scale: number,
  ): Record<string, number | null> {
    const [begin, end] = this.#read;
    return this.#map((_pid, name) => {
      const before = (begin && pick(begin)[name]) ?? null;
      const after = (end && pick(end)[name]) ?? null;
      if (!begin || !end || before === null || after === null) return null;
      return ((after - before) / (end.atMs - begin.atMs)) * scale;
    });
  }

  #map<T>(of: (pid: number, name: string) => T): Record<string, T> {
    const entries = Object.entries(this.#meters);
    return Object.fromEntries(entries.map(([name, pid]) => [name, of(pid, name)]));
  }
}

interface Reading {
  readonly atMs: number;
  readonly cpuMs: Readonly<Record<string, number | null>>;
  readonly bytes: Readonly<Record<string, number | null>>;
  readonly written: Readonly<Record<string, number | null>>;
}

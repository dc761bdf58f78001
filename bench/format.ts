import { stripVTControlCharacters } from 'node:util';
import { projectRoot } from './child.ts';
import type { LoadResult } from './load-process.ts';
import { findMedian, type Spread } from './statistics.ts';

/** 12,345 */
export function formatCount(value: number): string {
  return Math.round(value).toLocaleString('en');
}

export function formatSpread({ min, max }: Spread): string {
  return `${formatCount(min)}–${formatCount(max)}`;
}

/** 1.23× */
export function formatRatio(ratio: number): string {
  return `${ratio.toFixed(2)}×`;
}

export function formatMs(valueMs: number): string {
  return `${valueMs.toFixed(valueMs < 100 ? 1 : 0)} ms`;
}

export function formatMegabytes(bytes: number): string {
  return `${Math.round(bytes / 1_000_000)} MB`;
}

/** Median processor use of all participants, in cores. */
export function formatCores(rounds: readonly LoadResult[]): string {
  return listCores(rounds)
    .map(([name, cores]) => `${name} ${cores?.toFixed(2) ?? '?'}`)
    .join(', ');
}

/**
 * The same, with the processor time per cycle or request, which is comparable even on a busy
 * machine.
 */
export function formatCoresEach(rounds: readonly LoadResult[]): string {
  const perSecond = findMedian(rounds.map((round) => round.perSecond));
  return listCores(rounds)
    .map(([name, cores]) => {
      if (cores === null) return `${name} ?`;
      return `${name} ${cores.toFixed(2)} (${Math.round((cores * 1_000_000) / perSecond)} µs each)`;
    })
    .join(', ');
}

function listCores(rounds: readonly LoadResult[]): [string, number | null][] {
  return Object.keys(rounds[0]?.cores ?? {}).map((name) => {
    const values = rounds.flatMap(({ cores }) => cores[name] ?? []);
    return [name, values.length === 0 ? null : findMedian(values)];
  });
}

/** Limit of an error in a table cell: short, and without paths of this machine. */
const ERROR_CHARS_MAX = 300;

export function describeError(error: unknown): string {
  const text = stripVTControlCharacters(error instanceof Error ? error.message : String(error));
  return text.replaceAll(projectRoot, '.').replace(/\s+/g, ' ').slice(0, ERROR_CHARS_MAX);
}

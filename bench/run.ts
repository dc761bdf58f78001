import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Bench } from './bench.ts';
import type { Figure } from './figure.ts';
import { describeMachine } from './machine.ts';
import { measureAttention } from './measures/attention.ts';
import { measureConsole } from './measures/console.ts';
import { measureDisk } from './measures/disk.ts';
import { measureFleet, measureTraffic } from './measures/fleet.ts';
import { measureGrowth, measureListSize } from './measures/growth.ts';
import { measurePacks } from './measures/packs.ts';
import { measureStart } from './measures/start.ts';
import { measureThroughput } from './measures/throughput.ts';
import { measureCrowd, measureDelivery } from './measures/waiting.ts';
import { measureWorktrees } from './measures/worktrees.ts';
import type { MeasureName, Options } from './options.ts';
import { Place } from './place.ts';
import { describeError, projectRoot } from './project.ts';
import { formatReport, keepEarlier, type Report, replaceBlock } from './report.ts';
import { profileHubs } from './subjects/hub.ts';
import { startPostgres } from './subjects/postgres.ts';
import { readRedisVersion } from './subjects/redis.ts';

const resultsDir = join(import.meta.dirname, 'results');
const latestPath = join(resultsDir, 'latest.json');
const summaryPath = join(import.meta.dirname, 'RESULTS.md');

type Measure = (bench: Bench) => Promise<Figure[]>;

const measures: readonly (readonly [title: string, Measure, ...names: MeasureName[]])[] = [
  ['throughput', measureThroughput, 'P1', 'P2', 'P3'],
  ['delivery', measureDelivery, 'P4'],
  ['growth', measureGrowth, 'P5', 'P8'],
  ['size of a list', measureListSize, 'P8'],
  ['crowd', measureCrowd, 'P6'],
  ['start', measureStart, 'P7'],
  ['context packs', measurePacks, 'P9'],
  ['console', measureConsole, 'P10'],
  ['working fleet', measureFleet, 'P11'],
  ['console traffic', measureTraffic, 'P12'],
  ['disk', measureDisk, 'P13'],
  ['worktrees', measureWorktrees, 'P16'],
  ['attention', measureAttention, 'P17'],
];

/** Runs the selected measures and writes their figures. */
export async function runBench(options: Options, say: (line: string) => void): Promise<void> {
  if (options.profileDir !== undefined) profileHubs(options.profileDir);
  const place = new Place(options.dataRoot ?? join(import.meta.dirname, '.data'));
  const postgres = await startPostgres().catch(describeError);
  const bench: Bench = { options, place, postgres, say };
  const machine = describeMachine(place.root, {
    postgres: typeof postgres === 'string' ? 'absent' : postgres.version,
    redis: readRedisVersion() ?? 'absent',
  });
  const run = `${new Date().toISOString().slice(0, 10)} ${readCommit()}`;
  const figures: Report['figures'][number][] = [];
  try {
    for (const [title, measure, ...names] of measures) {
      const [first, ...others] = names.filter((name) => options.only.has(name));
      if (first === undefined) continue;
      say(`${[first, ...others].join(', ')}: ${title}`);
      const beganMs = performance.now();
      const found = await measure(bench).catch((error: unknown): Figure[] => [
        { measure: first, what: title, unit: '', values: `failed: ${describeError(error)}` },
      ]);
      const chosen = found.filter((figure) => options.only.has(figure.measure));
      figures.push(...chosen.map((figure) => ({ ...figure, run })));
      say(`  took ${Math.round((performance.now() - beganMs) / 1_000)} s`);
    }
  } finally {
    if (typeof postgres !== 'string') await postgres.stop();
  }
  writeReport({ machine, isQuick: options.quick, figures }, options, say);
}

function writeReport(report: Report, options: Options, say: (line: string) => void): void {
  mkdirSync(resultsDir, { recursive: true });
  say(`\n${formatReport(report)}\n`);
  const path = options.isKept ? latestPath : join(resultsDir, 'part.json');
  const before = existsSync(latestPath) ? JSON.parse(readFileSync(latestPath, 'utf8')) : null;
  const written = options.isKept ? keepEarlier(report, before, options.only) : report;
  writeFileSync(path, `${JSON.stringify(written, null, 1)}\n`);
  if (options.isKept) {
    const page = readFileSync(summaryPath, 'utf8');
    writeFileSync(summaryPath, replaceBlock(page, formatReport(written)));
  }
  say(`Written to ${relative(projectRoot, path)}.`);
}

function readCommit(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: projectRoot, encoding: 'utf8' }).trim();
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '-uno') && '+');
  } catch {
    // An unpacked archive has no history.
    return 'an unknown commit';
  }
}

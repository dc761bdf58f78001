import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { drawChart } from './chart.ts';
import { projectRoot } from './child.ts';
import { keepEarlier, readReport } from './earlier-sections.ts';
import { describeError } from './format.ts';
import { describeMachine } from './machine.ts';
import { measureConsole } from './measures/console.ts';
import { measureConsoleTraffic } from './measures/console-traffic.ts';
import { measureCrowd } from './measures/crowd.ts';
import { measureDelivery } from './measures/delivery.ts';
import { measureDisk } from './measures/disk.ts';
import { measureFleet } from './measures/fleet.ts';
import { measureGrowth } from './measures/growth.ts';
import { measureListPage } from './measures/list-page.ts';
import { measurePacks } from './measures/packs.ts';
import { measureStart } from './measures/start.ts';
import { measureThroughput } from './measures/throughput.ts';
import type { MeasureName, Options } from './options.ts';
import { Place } from './place.ts';
import { formatReport, formatSummary, type Report } from './report.ts';
import type { Bench, Section } from './section.ts';
import { profileHubs } from './subjects/hub.ts';
import { startPostgres } from './subjects/postgres.ts';
import { readRedisVersion } from './subjects/redis.ts';
import { replaceBlock } from './summary-block.ts';

const resultsDir = join(import.meta.dirname, 'results');
const summaryPath = join(projectRoot, 'bench/RESULTS.md');

interface Measure {
  readonly names: readonly MeasureName[];
  readonly title: string;
  measure(bench: Bench): Promise<Section>;
}

const measures: readonly Measure[] = [
  { names: ['P1', 'P2', 'P3'], title: 'throughput', measure: measureThroughput },
  { names: ['P4'], title: 'delivery', measure: measureDelivery },
  { names: ['P5', 'P8'], title: 'growth', measure: measureGrowth },
  { names: ['P8'], title: 'size of a list', measure: measureListPage },
  { names: ['P6'], title: 'crowd', measure: measureCrowd },
  { names: ['P7'], title: 'start', measure: measureStart },
  { names: ['P9'], title: 'context packs', measure: measurePacks },
  { names: ['P10'], title: 'console', measure: measureConsole },
  { names: ['P11'], title: 'working fleet', measure: measureFleet },
  { names: ['P12'], title: 'console traffic', measure: measureConsoleTraffic },
  { names: ['P13'], title: 'disk', measure: measureDisk },
];

/** Runs the selected measures, writes `results/` and prints the table. */
export async function runBench(options: Options, say: (line: string) => void): Promise<void> {
  const beganMs = performance.now();
  if (options.profileDir !== null) profileHubs(options.profileDir);
  const bench = await openBench(options, say);
  const { postgres } = bench;
  const isAvailable = !('absentBecause' in postgres);
  const machine = describeMachine(bench.place.root, {
    postgres: isAvailable ? postgres.version : 'absent',
    redis: bench.redisVersion ?? 'absent',
  });
  const sections: Section[] = [];
  try {
    for (const { names, title, measure } of measures) {
      const chosen = names.filter((name) => options.only.has(name));
      if (chosen.length === 0) continue;
      say(`${chosen.join(', ')}: ${title}`);
      const sectionBeganMs = performance.now();
      sections.push(await measure(bench).catch((error: unknown) => failed(title, error)));
      say(`  took ${Math.round((performance.now() - sectionBeganMs) / 1_000)} s`);
    }
  } finally {
    if (isAvailable) await postgres.stop();
  }
  const seconds = (performance.now() - beganMs) / 1_000;
  const commit = readCommit();
  const { quick, rounds } = options;
  const report = { at: new Date().toISOString(), commit, options: { quick, rounds } };
  const run = { ...report, machine, sections, seconds };
  const before = options.isQuoted ? readReport(join(resultsDir, 'latest.json')) : null;
  writeReport(keepEarlier(run, before, options.only), options, say);
}

/** The section of a failed measure; the report still contains the others. */
function failed(title: string, error: unknown): Section {
  const notes = [`Failed: ${describeError(error)}`];
  return { title, table: { head: [], rows: [] }, notes, verdicts: [], bars: [], raw: null };
}

async function openBench(options: Options, say: (line: string) => void): Promise<Bench> {
  const place = new Place(options.dataRoot ?? join(import.meta.dirname, '.data'));
  return {
    options,
    place,
    redisVersion: readRedisVersion(),
    postgres: await openPostgres(options),
    say,
  };
}

/** All measures except P2, P10 and P12 need PostgreSQL. */
async function openPostgres({ only }: Options): Promise<Bench['postgres']> {
  if (only.isSubsetOf(new Set(['P2', 'P10', 'P12']))) return { absentBecause: 'not asked for' };
  return startPostgres().catch((error: unknown) => ({ absentBecause: describeError(error) }));
}

function writeReport(report: Report, options: Options, say: (line: string) => void): void {
  mkdirSync(resultsDir, { recursive: true });
  const page = formatReport(report);
  const bars = report.sections.flatMap((section) => section.bars);
  const path = join(resultsDir, options.isQuoted ? 'latest' : 'part');
  writeFileSync(`${path}.md`, page);
  writeFileSync(`${path}.svg`, drawChart('Whole cycles per second', bars));
  writeFileSync(`${path}.json`, `${JSON.stringify(report, null, 1)}\n`);
  if (options.isQuoted) {
    const page = readFileSync(summaryPath, 'utf8');
    writeFileSync(summaryPath, replaceBlock(page, formatSummary(report)));
  }
  say(`\n${page}`);
  say(`Took ${Math.round(report.seconds)} s. Written to ${relative(projectRoot, path)}.*`);
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

import { type LocalPostgres, serverVariable, startLocalPostgres } from '@signalbox/local-postgres';
import { buildConsole } from '../build/console-build.ts';
import { runConsoleTests } from './console-tests.ts';
import { describeEngines, findEngineFiles } from './engines.ts';
import { useFastFiles } from './fast-files.ts';
import { endGroupsOnSignal } from './process-group.ts';
import { type FileReport, runTestFile } from './test-file.ts';
import type { TestFiles } from './test-files.ts';
import type { TestOptions } from './test-options.ts';
import { countResults, describeReport, describeRun, forbidSkips } from './test-summary.ts';

/** Limits of one file; generous, for two slow cores shared with a neighbour file. */
const parallelLimitMs = 180_000;
const aloneLimitMs = 300_000;

type FileRun = () => Promise<FileReport>;

/**
 * Runs the files, prints progress and the summary, and answers whether all is well. The last line
 * printed is `N passed, N failed, N skipped`. No test at all is a failure.
 */
export async function runTests(
  root: string,
  files: TestFiles,
  options: TestOptions,
): Promise<boolean> {
  const startMs = performance.now();
  endGroupsOnSignal();
  const reports: FileReport[] = [];
  const add = (report: FileReport) => {
    const judged = options.noSkips ? forbidSkips(report) : report;
    reports.push(judged);
    say(describeReport(judged));
  };
  // A page can only be tested as built; what runs on Node alone does not wait for the build.
  if (files.alone.length + files.console.length > 0) {
    const failure = await tryBuild(root);
    if (failure !== undefined) add(failure);
  }
  const runs = listRuns(root, files, options);
  const { parallel, alone } = runs;
  const server = runs.needsPostgres ? await tryPostgres(add) : undefined;
  // After the server's start: a server that is killed could leave its files in memory for good.
  useFastFiles();
  const fileCount = files.parallel.length + files.console.length + files.alone.length;
  say(`Running ${fileCount} test files, ${options.concurrency} at once.`);
  await drain(parallel, options.concurrency, add);
  await drain(alone, 1, add);
  await server?.stop();
  if (fileCount === 0) say('No test file was found.');
  say(describeRun(reports, performance.now() - startMs, runs.engineNote));
  const { passed, failed, skipped } = countResults(reports);
  // Changes that no test depends on are no failure; a filter that finds no test is a wrong one.
  const isEmptyFine = options.changedSince !== undefined && fileCount === 0;
  return failed === 0 && (passed + skipped > 0 || isEmptyFine);
}

interface Runs {
  readonly parallel: FileRun[];
  readonly alone: FileRun[];
  readonly needsPostgres: boolean;
  /** Which databases the tests ran on, and how to run the other. */
  readonly engineNote: string;
}

/** A file whose tests use the database is run once for each of the chosen engines. */
function listRuns(root: string, files: TestFiles, options: TestOptions): Runs {
  const onEngines = findEngineFiles(root, [...files.parallel, ...files.alone]);
  const runsOf = (file: string, limitMs: number): FileRun[] => {
    const engines = onEngines.get(file);
    if (engines === undefined) return [() => runTestFile(root, file, limitMs)];
    return engines
      .filter((engine) => options.engines.includes(engine))
      .map((engine) => () => runTestFile(root, file, limitMs, engine));
  };
  const limitMs = options.fileLimitMs;
  const parallel = files.parallel.flatMap((file) => runsOf(file, limitMs ?? parallelLimitMs));
  // First, because it is the longest: all component tests are one run.
  if (files.console.length > 0) {
    parallel.unshift(() => runConsoleTests(root, files.console, limitMs ?? parallelLimitMs));
  }
  const alone = files.alone.flatMap((file) => runsOf(file, limitMs ?? aloneLimitMs));
  const needsPostgres = onEngines.size > 0 && options.engines.includes('postgres');
  const engineNote = describeEngines(onEngines, options.engines);
  return { parallel, alone, needsPostgres, engineNote };
}

/**
 * One server for all files, unless the environment names one. Without it, each of them fails to
 * start its own, and says so.
 */
async function tryPostgres(add: (report: FileReport) => void): Promise<LocalPostgres | undefined> {
  if (process.env[serverVariable]) return undefined;
  const startMs = performance.now();
  try {
    const server = await startLocalPostgres();
    process.env[serverVariable] = server.url;
    return server;
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    add({
      file: 'packages/local-postgres (start)',
      results: [{ name: 'a PostgreSQL starts for the tests', outcome: 'failed', detail }],
      durationMs: performance.now() - startMs,
      output: '',
    });
    return undefined;
  }
}

/** A console that does not build is one failure; the other tests still have something to say. */
async function tryBuild(root: string): Promise<FileReport | undefined> {
  const startMs = performance.now();
  try {
    await buildConsole(root, say);
    return undefined;
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return {
      file: 'packages/console (build)',
      results: [{ name: 'the console builds', outcome: 'failed', detail }],
      durationMs: performance.now() - startMs,
      output: '',
    };
  }
}

/** Runs the files in order, a few at once. */
async function drain(
  runs: FileRun[],
  concurrency: number,
  add: (report: FileReport) => void,
): Promise<void> {
  const waiting = [...runs];
  const lanes = Array.from({ length: Math.min(concurrency, runs.length) }, async () => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) add(await run());
  });
  await Promise.all(lanes);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

import { type LocalPostgres, serverVariable, startLocalPostgres } from '@signalbox/local-postgres';
import { buildConsole } from '../build/console-build.ts';
import { runConsoleTests } from './console-tests.ts';
import { describeEngines, findEngineFiles } from './engines.ts';
import { useFastFiles } from './fast-files.ts';
import type { FileReport } from './file-log.ts';
import { type FileRun, type Queues, runInLanes } from './lanes.ts';
import { bundleProcesses } from './process-bundle.ts';
import { endGroupsOnSignal } from './process-group.ts';
import { readProcessorMs } from './processor-time.ts';
import { repeatFailed } from './repeat-failed.ts';
import type { TestFiles } from './test-files.ts';
import type { TestOptions } from './test-options.ts';
import { findPlace } from './test-place.ts';
import { countResults, describeReport, describeRun, forbidSkips } from './test-summary.ts';

/** The limit of one file; generous, for slow cores that several files share. */
const fileLimitMs = 1_200_000;

/**
 * The tests whose files share processes. Their work is inside the process, so that most of the time
 * of a short file went into loading and compiling the hub. Files elsewhere start processes of their
 * own, or change the environment.
 */
const sharing = /^packages\/(contract|hub|sdk)\/|^scripts\/check\//;

/** Demos at once would each build it. */
const needsConsole = /^(e2e|scripts\/(build|demo))\//;

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
  const firstReports: FileReport[] = [];
  const judge = (report: FileReport) => {
    const judged = options.noSkips ? forbidSkips(report) : report;
    say(describeReport(judged));
    return judged;
  };
  const add = (report: FileReport) => void firstReports.push(judge(report));
  // A page can only be tested as built; what runs on Node alone does not wait for the build.
  if (files.console.length > 0 || files.waiting.some((file) => needsConsole.test(file))) {
    await attempt(add, 'packages/console (build)', () => buildConsole(root, say));
  }
  const runs = listRuns(root, files, options);
  const server = runs.needsPostgres ? await startServer(add) : undefined;
  if (files.waiting.length > 0 && !options.fromSource) {
    const option = await attempt(add, 'scripts/test (bundle)', () => bundleProcesses(root));
    if (option !== undefined) addNodeOption(option);
  }
  // After the server's start: a server that is killed could leave its files in memory for good.
  useFastFiles();
  const fileCount = files.computing.length + files.console.length + files.waiting.length;
  say(`Running ${fileCount} test files, ${options.concurrency} at once.`);
  await runInLanes(root, runs.queues, options.concurrency, add);
  const { reports, unsteady } = options.repeatFailed
    ? await repeatFailed(root, listFileRuns(runs.queues), firstReports, judge)
    : { reports: firstReports, unsteady: [] };
  await server?.stop();
  if (fileCount === 0) say('No test file was found.');
  const durationMs = performance.now() - startMs;
  const { engineNote } = runs;
  say(describeRun(reports, { durationMs, processorMs: readProcessorMs(), engineNote, unsteady }));
  const { passed, failed, skipped } = countResults(reports);
  // Changes that no test depends on are no failure; a filter that finds no test is a wrong one.
  const isEmptyFine = options.changedSince !== undefined && fileCount === 0;
  return failed === 0 && (passed + skipped > 0 || isEmptyFine);
}

function listFileRuns({ computing, waiting }: Queues): FileRun[] {
  return [...computing, ...waiting].flat().filter((run) => typeof run !== 'function');
}

interface Runs {
  readonly queues: Queues;
  readonly needsPostgres: boolean;
  /** Which databases the tests ran on, and how to run the other. */
  readonly engineNote: string;
}

/** A file whose tests use the database is run once for each of the chosen engines. */
function listRuns(root: string, files: TestFiles, options: TestOptions): Runs {
  const onEngines = findEngineFiles(root, [...files.computing, ...files.waiting]);
  const limitMs = options.fileLimitMs ?? fileLimitMs;
  const runsOf = (file: string): FileRun[] => {
    const kind = { isShared: sharing.test(file), place: findPlace(root, file) };
    const run = { file, limitMs, ...kind };
    const engines = onEngines.get(file)?.filter((engine) => options.engines.includes(engine));
    return engines === undefined ? [run] : engines.map((engine) => ({ ...run, engine }));
  };
  const computing = files.computing.flatMap(runsOf);
  // Files on the same engine share processes.
  const place = ({ engine }: FileRun) =>
    engine === undefined ? -1 : options.engines.indexOf(engine);
  computing.sort((one, other) => place(one) - place(other));
  const console = () => runConsoleTests(root, files.console, limitMs);
  return {
    queues: {
      // First, because it is the longest: all component tests are one run.
      computing: files.console.length > 0 ? [console, ...computing] : computing,
      waiting: chainByPlace(files.waiting.flatMap(runsOf)),
    },
    needsPostgres: onEngines.size > 0 && options.engines.includes('postgres'),
    engineNote: describeEngines(onEngines, options.engines),
  };
}

/** Files of one place and engine share a process. The chains come first: they take the longest. */
function chainByPlace(runs: readonly FileRun[]): (FileRun | FileRun[])[] {
  const chained = runs.filter(({ place }) => place !== undefined);
  const chains = Map.groupBy(chained, ({ place, engine }) => `${place} ${engine}`);
  return [...chains.values(), ...runs.filter(({ place }) => place === undefined)];
}

/**
 * One server for all files, unless the environment names one. Without it, each of them fails to
 * start its own, and says so.
 */
async function startServer(add: (report: FileReport) => void): Promise<LocalPostgres | undefined> {
  if (process.env[serverVariable]) return undefined;
  const server = await attempt(add, 'packages/local-postgres (start)', () => startLocalPostgres());
  if (server !== undefined) process.env[serverVariable] = server.url;
  return server;
}

/** For every Node that starts from now on. */
function addNodeOption(option: string): void {
  process.env.NODE_OPTIONS = [process.env.NODE_OPTIONS, option].filter(Boolean).join(' ');
}

/** Runs a step that tests depend on; its failure is reported, and the other tests still run. */
async function attempt<Result>(
  add: (report: FileReport) => void,
  file: string,
  step: () => Promise<Result>,
): Promise<Result | undefined> {
  const startMs = performance.now();
  try {
    return await step();
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    const results = [{ name: 'succeeds', outcome: 'failed', detail } as const];
    add({ file, results, durationMs: performance.now() - startMs, output: '' });
    return undefined;
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

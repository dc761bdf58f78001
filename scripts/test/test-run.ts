import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalPostgres, serverVariable, startLocalPostgres } from '@signalbox/local-postgres';
import { buildConsole } from '../build/console-build.ts';
import { runConsoleTests } from './console-tests.ts';
import { describeEngines, findEngineFiles } from './engines.ts';
import { useFastFiles } from './fast-files.ts';
import { type FileReport, failureOf } from './file-report.ts';
import { endMarkedOnSignal } from './marked-processes.ts';
import { bundleProcesses } from './process-bundle.ts';
import { readProcessorMs } from './processor-time.ts';
import { type Batch, runBatch } from './run-batch.ts';
import { kindOf, type TestKind } from './test-files.ts';
import type { TestOptions } from './test-options.ts';
import { findPlace } from './test-place.ts';
import { countResults, describeReport, describeRun, forbidSkips } from './test-summary.ts';

/** The limit of one file; generous, for slow cores that several files share. */
const fileLimitMs = 1_200_000;
/** Fewer files that start processes are done before a bundle is, and show the lines of sources. */
const bundledFilesMin = 4;
/**
 * Loading the hub, and running code that is not compiled yet, costs a process the processor time of
 * two or three files. More files in one would leave the others of a run without work at its end, so
 * files that wait, and take longer, are fewer.
 */
const batchFilesMax = { computing: 12, waiting: 5 };
/** More failed files than these are no matter of a busy machine. */
const repeatedFilesMax = 20;

/**
 * The tests whose files share processes. Elsewhere, modules that several files import have hooks,
 * which would run for the first file only.
 */
const sharing = /^packages\/(contract|hub|sdk|agent|cli)\/|^scripts\/check\//;

/** Demos at once would each build it. */
const needsConsole = /^(e2e|packages\/console|scripts\/(build|demo))\//;

/** Runs a part of the tests, and reports each of its files. */
type Run = (add: (report: FileReport) => void) => Promise<void>;
type NodeKind = keyof typeof batchFilesMax;

/**
 * Runs the files, prints progress and the summary, and answers whether all is well. The last line
 * printed is `N passed, N failed, N skipped`. No test at all is a failure.
 */
export async function runTests(
  root: string,
  files: readonly string[],
  options: TestOptions,
): Promise<boolean> {
  const startMs = performance.now();
  endMarkedOnSignal();
  prepareEnvironment(root);
  const reports: FileReport[] = [];
  const judge = (report: FileReport) => {
    const judged = options.noSkips ? forbidSkips(report) : report;
    say(describeReport(judged));
    return judged;
  };
  const add = (report: FileReport) => void reports.push(judge(report));
  const filesOf = (kind: TestKind) => files.filter((file) => kindOf(file) === kind);
  const ofConsole = filesOf('console');
  // A page can only be tested as built; what runs on Node alone does not wait for the build.
  if (files.some((file) => needsConsole.test(file))) {
    await attempt(add, 'packages/console (build)', () => buildConsole(root, say));
  }
  const onEngines = findEngineFiles(root, files);
  const needsPostgres = onEngines.size > 0 && options.engines.includes('postgres');
  const server = needsPostgres ? await startServer(add) : undefined;
  if (filesOf('waiting').length >= bundledFilesMin) {
    const option = await attempt(add, 'scripts/test (bundle)', () => bundleProcesses(root));
    if (option !== undefined) addNodeOption(option);
  }
  // After the server's start: a server that is killed could leave its files in memory for good.
  useFastFiles();
  say(`Running ${files.length} test files, ${options.concurrency} at once.`);
  const batchesOf = (kind: NodeKind) =>
    makeBatches(root, { files: filesOf(kind), max: batchFilesMax[kind] }, options, onEngines);
  const runOf =
    (batch: Batch): Run =>
    (report) =>
      runBatch(root, batch, fileLimitMs, report);
  const console: Run = async (report) => {
    report(await runConsoleTests(root, ofConsole, fileLimitMs));
  };
  const computing = batchesOf('computing').map(runOf);
  // First, because it is the longest: all component tests are one run.
  if (ofConsole.length > 0) computing.unshift(console);
  const waiting = batchesOf('waiting').map(runOf);
  await runInLanes({ computing, waiting }, options.concurrency, add);
  const unsteady = options.repeatFailed ? await repeatFailed(root, reports, runOf, judge) : [];
  await server?.stop();
  if (files.length === 0) say('No test file was found.');
  const durationMs = performance.now() - startMs;
  const processorMs = readProcessorMs(process.pid) ?? 0;
  const engineNote = describeEngines(onEngines, options.engines);
  say(describeRun(reports, { durationMs, processorMs, engineNote, unsteady }));
  const { passed, failed, skipped } = countResults(reports);
  // Changes that no test depends on are no failure; a filter that finds no test is a wrong one.
  const isEmptyFine = options.changedSince !== undefined && files.length === 0;
  return failed === 0 && (passed + skipped > 0 || isEmptyFine);
}

/**
 * A developer's own settings of the hub must not change what the tests see; those made for tests
 * (`SIGNALBOX_TEST_…`, `SVC_TEST_…`) may.
 */
function prepareEnvironment(root: string): void {
  for (const name of Object.keys(process.env)) {
    if (/^((SVC|SIGNALBOX)_(?!TEST_)|SIGNALBOX_TEST_ENGINE$)/.test(name)) delete process.env[name];
  }
  // A test that names no data directory must not find the hub of the person who runs it.
  process.env.XDG_DATA_HOME = join(tmpdir(), 'signalbox-test-data');
  // Without it, each process compiles the whole hub again.
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/compile');
}

/** A file whose tests use the database is run once for each of the chosen engines. */
function makeBatches(
  root: string,
  { files, max }: { files: readonly string[]; max: number },
  options: TestOptions,
  onEngines: ReturnType<typeof findEngineFiles>,
): Batch[] {
  const batches: Batch[] = [];
  const shared = new Map<string, { files: string[] } & Batch>();
  for (const file of files) {
    const place = findPlace(root, file);
    const engines = onEngines.get(file)?.filter((engine) => options.engines.includes(engine));
    for (const engine of engines ?? [undefined]) {
      if (place === undefined && !sharing.test(file)) {
        batches.push({ files: [file], engine });
        continue;
      }
      const key = `${place} ${engine}`;
      const batch = shared.get(key) ?? { files: [], engine, place };
      // Files of a place share one process, because it takes long to start; so it must start first.
      if (batch.files.length === 0) batches[place === undefined ? 'push' : 'unshift'](batch);
      batch.files.push(file);
      shared.set(key, batch);
      if (place === undefined && batch.files.length >= max) shared.delete(key);
    }
  }
  return batches;
}

/**
 * Runs several at once. A third of the lanes run computing files and the others waiting ones, so
 * that both take the whole run and the processors are always busy; a lane whose queue is empty
 * helps the others.
 */
async function runInLanes(
  { computing, waiting }: Record<NodeKind, Run[]>,
  laneCount: number,
  add: (report: FileReport) => void,
): Promise<void> {
  const lanes = Array.from({ length: laneCount }, async (_, number) => {
    const [own, other] = number % 3 === 0 ? [computing, waiting] : [waiting, computing];
    for (let run = own.shift() ?? other.shift(); run; run = own.shift() ?? other.shift()) {
      await run(add);
    }
  });
  await Promise.all(lanes);
}

/**
 * Runs each failed file once more, alone, when the others have ended (docs/decisions/0046), and
 * puts its second report in place of the first. Returns the first reports of those that passed.
 */
async function repeatFailed(
  root: string,
  reports: FileReport[],
  runOf: (batch: Batch) => Run,
  judge: (report: FileReport) => FileReport,
): Promise<FileReport[]> {
  const failed = reports.filter((report) => countResults([report]).failed > 0);
  if (failed.length > repeatedFilesMax) return [];
  const unsteady: FileReport[] = [];
  for (const first of failed.filter(({ file }) => file.endsWith('.test.ts'))) {
    const again: FileReport[] = [];
    const { file, engine } = first;
    await runOf({ files: [file], engine, place: findPlace(root, file) })((report) =>
      again.push(judge(report)),
    );
    reports.splice(reports.indexOf(first), 1, ...again);
    if (countResults(again).failed === 0) unsteady.push(first);
  }
  return unsteady;
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
  try {
    return await step();
  } catch (error) {
    add(failureOf(file, error instanceof Error ? error.message : String(error)));
    return undefined;
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

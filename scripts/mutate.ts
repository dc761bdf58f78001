// `npm run mutate`: plants small faults into source files of the hub, one at a time, and says which
// of them no test finds. On SQLite. The working tree is not touched.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { listFiles } from './check/source-files.ts';
import { chooseTestsOf, TestOrder } from './mutate/choose-tests.ts';
import { listMutants, type Mutant, plant, sampleMutants } from './mutate/mutants.ts';
import { copyProject } from './mutate/project-copy.ts';
import {
  describeVerdict,
  type Results,
  readResults,
  type Verdict,
  writeResults,
} from './mutate/results.ts';
import { runTestFiles } from './mutate/test-process.ts';
import { useFastFiles } from './test/fast-files.ts';
import { endGroupsOnSignal } from './test/process-group.ts';

const usage = `npm run mutate -- [options] PATH …
  PATH            files or folders of packages/hub/src
  --count N       how many faults, drawn from all operators alike (default 100)
  --seed TEXT     another sample (default 1)
  --results FILE  where the verdicts are kept (default .signalbox/mutants.json). A later run
                  continues where the last one stopped: name another file after a change
  --killed FILE   instead of a sample: the faults that the tests found when FILE was written, to
                  see whether they still find them all
  --tests PART    only test files whose paths contain PART
  --minutes N     start no fault after this time
  --concurrency N faults at a time (default: processors, at most 4)`;

const root = join(import.meta.dirname, '..');
/** Far above what all tests of a file take together: a fault that hangs them counts as found. */
const limitMs = 600_000;

interface Options {
  readonly paths: readonly string[];
  readonly count: number;
  readonly seed: string;
  readonly results: string;
  readonly killed: string | undefined;
  readonly tests: string;
  readonly minutes: number;
  readonly concurrency: number;
}

try {
  process.exitCode = await main(readOptions(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof Error)) throw error;
  process.stderr.write(`signalbox: ${error.message}\n${usage}\n`);
  process.exitCode = 2;
}

/** @returns 1 when a fault survives that was found before. */
async function main(options: Options): Promise<number> {
  endGroupsOnSignal();
  useFastFiles();
  const deadlineMs = performance.now() + options.minutes * 60_000;
  const earlier = options.killed === undefined ? [] : readResults(options.killed).verdicts;
  const mutants = chooseMutants(options, earlier);
  const results = readResults(options.results);
  const { verdicts } = results;
  const known = new Set(verdicts.map(({ id }) => id));
  const open = mutants.filter(({ id }) => !known.has(id));
  const tests = chooseTestsOf(root, [...new Set(open.map(({ file }) => file))], options.tests);
  const copies = Array.from({ length: options.concurrency }, () => copyProject(root));
  const order = await measure(copies, [...new Set([...tests.values()].flat())], results);
  for (const { killer, file } of [...earlier, ...verdicts]) {
    if (killer !== undefined) order.noteRun(killer, file, true);
  }
  writeResults(options.results, results);
  await shareOut(copies, open, async (copy, mutant) => {
    if (performance.now() > deadlineMs) return;
    const killer = earlier.find(({ id }) => id === mutant.id)?.killer;
    const verdict = await tryMutant(copy, mutant, tests.get(mutant.file) ?? [], order, killer);
    verdicts.push(verdict);
    writeResults(options.results, results);
    say(`${verdicts.length}/${mutants.length}  ${describeVerdict(verdict)}`);
  });
  const survivors = verdicts.filter(({ outcome }) => outcome === 'survived');
  say(`${verdicts.length - survivors.length} killed, ${survivors.length} survived`);
  for (const survivor of survivors) say(describeVerdict(survivor));
  if (verdicts.length < mutants.length) say(`${mutants.length - verdicts.length} left`);
  return options.killed !== undefined && survivors.length > 0 ? 1 : 0;
}

function chooseMutants(options: Options, earlier: readonly Verdict[]): Mutant[] {
  const files = options.paths.flatMap((path) =>
    statSync(join(root, path)).isDirectory() ? listFiles(root, path, ['.ts']) : [path],
  );
  const mutants = files
    .filter((file) => !/postgres/.test(file))
    .flatMap((file) => listMutants(file, readFileSync(join(root, file), 'utf8')));
  if (options.killed === undefined) return sampleMutants(mutants, options.count, options.seed);
  const wanted = earlier.filter(({ outcome }) => outcome === 'killed');
  const present = new Map(mutants.map((mutant) => [mutant.id, mutant]));
  const gone = wanted.filter(({ id }) => !present.has(id));
  for (const mutant of gone) say(`not in the source any more: ${describeVerdict(mutant)}`);
  return wanted.flatMap(({ id }) => present.get(id) ?? []);
}

/** Runs the test files that have no duration yet: one that fails now would find every fault. */
async function measure(
  copies: readonly string[],
  tests: readonly string[],
  { durationsMs }: Results,
): Promise<TestOrder> {
  const unknown = tests.filter((test) => !(test in durationsMs));
  if (unknown.length > 0) say(`${unknown.length} test files, first without a fault.`);
  const parts = copies
    .map((_, part) => unknown.filter((_test, at) => at % copies.length === part))
    .filter((part) => part.length > 0);
  await shareOut(copies, parts, async (copy, part) => {
    const run = await runTestFiles(copy, part, limitMs);
    if (run.failure !== undefined) {
      const { file, description } = run.failure;
      throw new Error(`the tests fail without a fault: ${file ?? ''} ${description}`);
    }
    Object.assign(durationsMs, run.durationsMs);
  });
  return new TestOrder(durationsMs);
}

async function tryMutant(
  copy: string,
  mutant: Mutant,
  tests: readonly string[],
  order: TestOrder,
  likely: string | undefined,
): Promise<Verdict> {
  const path = join(copy, mutant.file);
  const source = readFileSync(path, 'utf8');
  const sorted = order.sort(tests, mutant.file);
  const first = sorted.filter((test) => test === likely);
  writeFileSync(path, plant(source, mutant));
  try {
    const run = await runTestFiles(copy, [...new Set([...first, ...sorted])], limitMs);
    const killer = run.failure?.file;
    for (const test of new Set([...Object.keys(run.durationsMs), ...(killer ? [killer] : [])])) {
      order.noteRun(test, mutant.file, test === killer);
    }
    const outcome = run.failure === undefined ? 'survived' : 'killed';
    return { ...mutant, outcome, killer, failure: run.failure?.description };
  } finally {
    writeFileSync(path, source);
  }
}

/** Works through the items in order, one at a time in each copy. */
async function shareOut<Item>(
  copies: readonly string[],
  items: readonly Item[],
  work: (copy: string, item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  await Promise.all(
    copies.map(async (copy) => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
        await work(copy, item);
      }
    }),
  );
}

function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      count: { type: 'string', default: '100' },
      seed: { type: 'string', default: '1' },
      results: { type: 'string', default: join(root, '.signalbox/mutants.json') },
      killed: { type: 'string' },
      tests: { type: 'string', default: '' },
      minutes: { type: 'string', default: '1000' },
      concurrency: { type: 'string', default: String(Math.min(availableParallelism(), 4)) },
    },
  });
  if (positionals.length === 0) throw new Error('name a file or a folder');
  const numberOf = (name: 'count' | 'minutes' | 'concurrency') => {
    if (/^[1-9]\d{0,4}$/.test(values[name])) return Number(values[name]);
    throw new Error(`--${name} takes a whole number above 0.`);
  };
  return {
    paths: positionals.map((path) => path.replace(/^\.\//, '').replace(/\/$/, '')),
    count: numberOf('count'),
    seed: values.seed,
    results: values.results,
    killed: values.killed,
    tests: values.tests,
    minutes: numberOf('minutes'),
    concurrency: numberOf('concurrency'),
  };
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

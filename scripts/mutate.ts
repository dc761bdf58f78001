// `npm run mutate`: plants small faults into source files of the hub, one at a time, and says which
// of them no test finds. On SQLite, but for files that are PostgreSQL's. The working tree is not
// touched.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { listFiles } from './check/source-files.ts';
import { measureTests } from './mutate/baseline.ts';
import { chooseTestsOf, engineOf, TestOrder } from './mutate/choose-tests.ts';
import { listMutants, type Mutant, plant, sampleMutants } from './mutate/mutants.ts';
import { copyProject } from './mutate/project-copy.ts';
import { describeVerdict, readResults, type Verdict, writeResults } from './mutate/results.ts';
import { shareOut } from './mutate/share-out.ts';
import { runTestFiles, useSteadyModel } from './mutate/test-process.ts';
import { useFastFiles } from './test/fast-files.ts';
import { endGroupsOnSignal } from './test/process-group.ts';

const usage = `npm run mutate -- [options] PATH …
  PATH            files or folders of packages/hub/src
  --count N       how many faults, drawn from all operators alike (default 100)
  --seed TEXT     another sample (default 1)
  --results FILE  where the verdicts are kept (default .signalbox/mutants.json). A later run
                  continues where the last one stopped: name another file after a change
  --again         runs the faults that survived in FILE once more, after tests were added
  --killed FILE   instead of a sample: the faults that the tests found when FILE was written, to
                  see whether they still find them all
  --tests PART    only test files whose paths contain PART
  --far           also the tests of modules that import the file: for faults that survived
  --minutes N     start no fault after this time
  --concurrency N faults at a time (default: processors, at most 4)`;

const root = join(import.meta.dirname, '..');

interface Options {
  readonly paths: readonly string[];
  readonly count: number;
  readonly seed: string;
  readonly results: string;
  readonly again: boolean;
  readonly killed: string | undefined;
  readonly tests: string;
  readonly far: boolean;
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

/** @returns 1 when a fault survives that was found before, or a test fails without a fault. */
async function main(options: Options): Promise<number> {
  endGroupsOnSignal();
  useFastFiles();
  useSteadyModel();
  const isLate = () => performance.now() > options.minutes * 60_000;
  const earlier = options.killed === undefined ? [] : readResults(options.killed).verdicts;
  const mutants = chooseMutants(options, earlier);
  const results = readResults(options.results, options.again);
  const isKnown = ({ id }: Mutant) => results.verdicts.some((verdict) => verdict.id === id);
  const open = mutants.filter((mutant) => !isKnown(mutant));
  const files = [...new Set(open.map(({ file }) => file))];
  const near = { part: options.tests, isNear: !options.far };
  const tests = chooseTestsOf(root, files, near);
  const copies = Array.from({ length: options.concurrency }, () => copyProject(root));
  const failing = await measureTests(copies, tests, results.durationsMs, {
    hearPass(key, durationMs) {
      results.durationsMs[key] = durationMs;
      writeResults(options.results, results);
    },
    say,
  });
  const order = new TestOrder(results.durationsMs);
  for (const { killer, file } of [...earlier, ...results.verdicts]) {
    if (killer !== undefined) order.noteRun(killer, file, true);
  }
  await shareOut(copies, open, async (copy, mutant) => {
    if (isLate()) return;
    const killer = earlier.find(({ id }) => id === mutant.id)?.killer;
    const verdict = await tryMutant(copy, mutant, tests.get(mutant.file) ?? [], order, killer);
    results.verdicts.push(verdict);
    writeResults(options.results, results);
    say(`${mutants.filter(isKnown).length}/${mutants.length}  ${describeVerdict(verdict)}`);
  });
  const verdicts = results.verdicts.filter(({ id }) => mutants.some((mutant) => mutant.id === id));
  const survivors = verdicts.filter(({ outcome }) => outcome === 'survived');
  say(`${verdicts.length - survivors.length} killed, ${survivors.length} survived`);
  for (const survivor of survivors) say(describeVerdict(survivor));
  if (verdicts.length < mutants.length) say(`${mutants.length - verdicts.length} left`);
  for (const failure of failing) say(`not used, fails without a fault: ${failure}`);
  return failing.length > 0 || (options.killed !== undefined && survivors.length > 0) ? 1 : 0;
}

function chooseMutants(options: Options, earlier: readonly Verdict[]): Mutant[] {
  const files = options.paths.flatMap((path) =>
    statSync(join(root, path)).isDirectory() ? listFiles(root, path, ['.ts']) : [path],
  );
  const mutants = files.flatMap((file) =>
    listMutants(file, readFileSync(join(root, file), 'utf8')),
  );
  if (options.killed === undefined) return sampleMutants(mutants, options.count, options.seed);
  const wanted = earlier.filter(({ outcome }) => outcome === 'killed');
  const present = new Map(mutants.map((mutant) => [mutant.id, mutant]));
  const gone = wanted.filter(({ id }) => !present.has(id));
  for (const mutant of gone) say(`not in the source any more: ${describeVerdict(mutant)}`);
  return wanted.flatMap(({ id }) => present.get(id) ?? []);
}

/** Runs the tests that have passed without a fault until one fails twice: once may be by chance. */
async function tryMutant(
  copy: string,
  mutant: Mutant,
  tests: readonly string[],
  order: TestOrder,
  likely: string | undefined,
): Promise<Verdict> {
  const path = join(copy, mutant.file);
  const source = readFileSync(path, 'utf8');
  const engine = engineOf(mutant.file);
  const sorted = order.sort(tests, mutant.file);
  if (sorted.length === 0) throw new Error(`no test of ${mutant.file} passes without a fault`);
  const first = sorted.filter((test) => test === likely);
  const run = (files: readonly string[]) =>
    runTestFiles(copy, engine, files, {
      limitMsOf: (test) => order.limitMs(test, engine),
      hearPass: (test) => order.noteRun(test, mutant.file, false),
    });
  writeFileSync(path, plant(source, mutant));
  try {
    let rest = [...new Set([...first, ...sorted])];
    for (;;) {
      const failure = await run(rest);
      if (failure === undefined) {
        return { ...mutant, outcome: 'survived', killer: undefined, failure: undefined };
      }
      const { file: killer, description } = failure;
      const isKilled = (await run([killer])) !== undefined;
      order.noteRun(killer, mutant.file, isKilled);
      if (isKilled) return { ...mutant, outcome: 'killed', killer, failure: description };
      rest = rest.slice(rest.indexOf(killer) + 1);
    }
  } finally {
    writeFileSync(path, source);
  }
}

function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      count: { type: 'string', default: '100' },
      seed: { type: 'string', default: '1' },
      results: { type: 'string', default: join(root, '.signalbox/mutants.json') },
      again: { type: 'boolean', default: false },
      killed: { type: 'string' },
      tests: { type: 'string', default: '' },
      far: { type: 'boolean', default: false },
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
    again: values.again,
    killed: values.killed,
    tests: values.tests,
    far: values.far,
    minutes: numberOf('minutes'),
    concurrency: numberOf('concurrency'),
  };
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

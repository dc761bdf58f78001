import { type ImportGraph, reachFrom, reverseGraph } from './import-graph.ts';

/** The tests to run for some changes. */
export interface Affected {
  readonly tests: ReadonlySet<string>;
  /** The file that has every test run; undefined when the changes are narrower. */
  readonly everythingFor: string | undefined;
}

/** Files with which everything may change: packages, the compiler, and how tests are started. */
const unknowable = [
  /(^|\/)(package(-lock)?\.json|tsconfig[^/]*\.json|\.npmrc|node-flags\.json)$/,
  /^\.ci\//,
  /^scripts\/(bootstrap\.mjs|test\.ts|test\/[^/]*(?<!\.test)\.ts)$/,
  /^packages\/local-postgres\/src\//,
];

const hubSource = 'packages/hub/src/';
const hubTests = 'packages/hub/test/';
/** Folders that every module uses: a change there reaches every hub. */
const sharedFolders = new Set(['db', 'http', 'loops', 'cluster']);

/**
 * Tests of rules that hold for every endpoint: who may call it, ids of other workspaces, keys.
 * Modules do not repeat them.
 */
const everyEndpoint = [
  'conformance/',
  'http/policy-matrix-sqlite.test.ts',
  'http/id-scenarios.test.ts',
  'http/idempotency-keys.test.ts',
  'http/list-pages.test.ts',
].map((path) => `${hubTests}${path}`);

/** Packages that whole systems (e2e, demo, benchmarks) start as commands. */
const commandPackage = /^packages\/(agent|cli)\//;

/** Modules that use another one through `HubDeps`, which no import shows. */
const usersThroughDeps: Readonly<Record<string, readonly string[]>> = {
  queue: ['jobs', 'cloud-ai-jobs'],
};

/**
 * Chooses the tests that `changed` touches.
 *
 * A test runs when it has changed or needs a changed file. This alone would run nearly every test
 * of the hub for each change in it, since they start whole hubs. So a change inside a module of
 * the hub that has tests of its own (`packages/hub/test/<module>/`) runs
 * - the tests of this module,
 * - the tests of the modules that import the change from this one,
 * - tests elsewhere that need it without starting a hub, and
 * - the tests of rules that hold for every endpoint, such as the conformance tests.
 * A change inside the agent or the command line runs the tests of this package that need it.
 * The whole suite runs in CI.
 */
export function chooseAffected(
  graph: ImportGraph,
  changed: readonly string[],
  tests: readonly string[],
): Affected {
  const everythingFor = changed.find((file) => unknowable.some((pattern) => pattern.test(file)));
  if (everythingFor !== undefined) return { tests: new Set(tests), everythingFor };
  const users = reverseGraph(graph);
  const chosen = new Set<string>();
  for (const file of changed) {
    const module = moduleOf(file);
    const [folder] = commandPackage.exec(file) ?? [];
    if (module !== undefined && tests.some((test) => isTestOf(test, module))) {
      for (const reached of followModule(users, file, module, tests)) chosen.add(reached);
      continue;
    }
    for (const reached of reachFrom(folder === undefined ? users : usersIn(users, folder), [file]))
      chosen.add(reached);
  }
  return { tests: new Set(tests.filter((test) => chosen.has(test))), everythingFor: undefined };
}

/** The users that lie in a folder. */
function usersIn(users: ImportGraph, folder: string): ImportGraph {
  return new Map(
    [...users].map(([file, all]) => [
      file,
      new Set([...all].filter((user) => user.startsWith(folder))),
    ]),
  );
}

/** Follows a change inside a module; the walk ends where a hub is composed. */
function followModule(
  users: ImportGraph,
  start: string,
  module: string,
  tests: readonly string[],
): ReadonlySet<string> {
  const modules = new Set([module, ...(usersThroughDeps[module] ?? [])]);
  const found = new Set([start]);
  for (const file of found) {
    for (const user of users.get(file) ?? []) {
      const other = moduleOf(user);
      if (other !== undefined && other !== module) modules.add(other);
      const isEnd = user.startsWith(hubSource) && other !== module;
      if (!isEnd && !user.startsWith(`${hubTests}support/`)) found.add(user);
    }
  }
  for (const test of tests) {
    if (everyEndpoint.some((path) => test.startsWith(path))) found.add(test);
    if ([...modules].some((name) => isTestOf(test, name))) found.add(test);
  }
  return found;
}

/** The module that a source file of the hub belongs to. */
function moduleOf(file: string): string | undefined {
  if (!file.startsWith(hubSource)) return undefined;
  const [folder, name] = file.slice(hubSource.length).split('/');
  return name === undefined || folder === undefined || sharedFolders.has(folder)
    ? undefined
    : folder;
}

function isTestOf(test: string, module: string): boolean {
  return test.startsWith(`${hubTests}${module}/`);
}

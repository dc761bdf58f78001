import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { OutputChunk } from 'rolldown';

/**
 * The scripts that tests start as processes: the command with agents and hubs, `npm start`, and the
 * agents, tools and hubs of the agent's tests.
 */
export const bundledScripts = [
  'packages/cli/src/main.ts',
  'scripts/start.ts',
  ...['acp-agent.ts', 'acp-agent-process.ts', 'agent-process.ts', 'hub-apart.ts'].map(
    (name) => `packages/agent/test/support/${name}`,
  ),
];
/**
 * Packages of many small modules, which the bundle contains. The processes of the tests themselves
 * use them from there, too.
 */
const packages = ['kysely', 'typebox', 'typebox/compile', 'typebox/schema'];

/** Bundles that no run has used for so long are removed. */
const unusedMs = 24 * 3_600_000;
const preloadName = 'preload.mjs';

/**
 * Bundles what the tests start as processes, unless a bundle of the same sources exists, and
 * returns the option of Node that uses it. A process that loads a few files instead of a thousand
 * starts with a third of the processor time, and the tests start thousands of processes.
 *
 * Every process keeps its path, and each bundled module the path of its source: only its code comes
 * from another file. Worker threads load the sources.
 *
 * @throws with the bundler's message when the sources cannot be bundled.
 */
export async function bundleProcesses(root: string): Promise<string> {
  const place = join(root, 'node_modules/.cache/test-bundles');
  mkdirSync(place, { recursive: true });
  removeUnused(place);
  const folder = findBundle(root, place) ?? (await writeBundle(root, place));
  utimesSync(folder, new Date(), new Date());
  return `--import=${pathToFileURL(join(folder, preloadName)).href}`;
}

/** The sources of the last bundle. While none of them changes, another bundle would be the same. */
const sourceListOf = (place: string) => join(place, 'sources.json');

function findBundle(root: string, place: string): string | undefined {
  if (!existsSync(sourceListOf(place))) return undefined;
  const sources = JSON.parse(readFileSync(sourceListOf(place), 'utf8')) as string[];
  if (sources.some((source) => !existsSync(join(root, source)))) return undefined;
  const folder = join(place, hashSources(root, sources));
  return existsSync(folder) ? folder : undefined;
}

/** The packages are represented by the lock. */
function hashSources(root: string, sources: readonly string[]): string {
  const hash = createHash('sha256').update(root);
  for (const source of ['package-lock.json', import.meta.filename, ...sources]) {
    const path = source === import.meta.filename ? source : join(root, source);
    hash.update(`\n${source}\n`).update(readFileSync(path));
  }
  return hash.digest('hex').slice(0, 24);
}

async function writeBundle(root: string, place: string): Promise<string> {
  // Loaded only for this: most runs find their bundle.
  const { rolldown } = await import('rolldown');
  const read = new Set<string>();
  const transform = (code: string, path: string) => {
    if (isOfPackage(path) || !path.startsWith(root)) return undefined;
    read.add(relative(root, path));
    return keepPath(code, path);
  };
  const bundle = await rolldown({
    cwd: root,
    platform: 'node',
    input: [...bundledScripts.map((script) => join(root, script)), ...packages],
    external: (id, importer) => !isBundled(id, importer),
    plugins: [{ name: 'sources', transform }],
  });
  const draft = join(place, `draft-${process.pid}`);
  try {
    const { output } = await bundle.write({ dir: draft, format: 'esm' });
    const chunks = output.filter((file) => file.type === 'chunk');
    const sources = [...read].sort();
    const folder = join(place, hashSources(root, sources));
    writeFileSync(join(draft, preloadName), composePreload(folder, chunks));
    moveUnlessThere(draft, folder);
    writeFileSync(sourceListOf(place), JSON.stringify(sources));
    return folder;
  } finally {
    await bundle.close();
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Packages that starts of hubs, commands and agents load, with what they depend on. */
const startPackages = new RegExp(
  `^(${[
    ...['kysely', 'typebox', 'fastify', '@fastify/cookie', 'croner'],
    ...['commander', 'yaml', 'fast-wrap-ansi'],
    ...['zod', '@agentclientprotocol/sdk', '@modelcontextprotocol/server', '@ai-sdk/[a-z-]+'],
  ].join('|')})(/|$)`,
);
/** They look for files beside their own. */
const wholePackages = /^(pino|light-my-request)$/;

/** Other packages stay what they are. */
function isBundled(id: string, importer: string | undefined): boolean {
  if (/^[./]/.test(id) || id.startsWith('@signalbox/')) return true;
  if (importer !== undefined && isOfPackage(importer)) return !wholePackages.test(id);
  return startPackages.test(id);
}

const isOfPackage = (path: string) => path.includes('/node_modules/');

/** Worker threads, files of the console and hints are found from the path of the source. */
function keepPath(code: string, path: string): string {
  return code
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href));
}

/** Composes the module that has Node load the bundle instead of the sources. */
function composePreload(folder: string, chunks: readonly OutputChunk[]): string {
  const urls = chunks.flatMap(({ isEntry, facadeModuleId: source, fileName }) =>
    isEntry && source !== null
      ? [[pathToFileURL(source).href, pathToFileURL(join(folder, fileName)).href]]
      : [],
  );
  return `import * as module from 'node:module';

const bundled = new Map(${JSON.stringify(urls)});

// Some tests start programs on older Nodes, which have no such hooks.
module.registerHooks?.({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const url = bundled.get(found.url);
    return url === undefined ? found : { url, format: 'module', shortCircuit: true };
  },
});
`;
}

function moveUnlessThere(draft: string, folder: string): void {
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another run has bundled the same sources first.
    if (!existsSync(folder)) throw error;
  }
}

function removeUnused(place: string): void {
  for (const name of readdirSync(place)) {
    const path = join(place, name);
    const usedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - usedMs > unusedMs) rmSync(path, { recursive: true, force: true });
  }
}

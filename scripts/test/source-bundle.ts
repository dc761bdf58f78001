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

export interface BundlePlan {
  readonly root: string;
  /** The folder of this bundle and of earlier ones. */
  readonly place: string;
  /** The scripts and modules to bundle, as paths below the root. */
  readonly entries: readonly string[];
}

/** The sources of the last bundle. While none of them changes, another bundle would be the same. */
interface SourceList {
  readonly name: string;
  readonly sources: readonly string[];
}

/** Packages of many small modules, which sources load by name when they first need them. */
const packages = ['typebox', 'typebox/compile', 'typebox/schema'];
/** Running processes may still load parts of a bundle this long after another has replaced it. */
const keptMs = 24 * 3_600_000;
const preloadName = 'preload.mjs';

/**
 * Returns the bundle of the present sources, as the path of a module that has the importing process
 * load the bundle instead of the entries; null if there is no such bundle.
 *
 * Every process keeps its path, and each bundled module the path of its source: only its code comes
 * from another file. Worker threads load the sources.
 */
export function findBundle(plan: BundlePlan): string | null {
  const list = readSourceList(plan.place);
  if (list === null) return null;
  const contents = new Map<string, Buffer>();
  for (const source of list.sources) {
    const content = readOptional(join(plan.root, source));
    if (content === null) return null;
    contents.set(source, content);
  }
  const preload = join(plan.place, nameBundle(plan, contents), preloadName);
  return existsSync(preload) ? preload : null;
}

/** Returns the bundle of the present sources, and writes it first if it does not exist. */
export async function ensureBundle(plan: BundlePlan): Promise<string> {
  return findBundle(plan) ?? (await writeBundle(plan));
}

/**
 * Writes a bundle of the present sources, for `findBundle`. Processes may do so at the same time.
 *
 * @throws with the bundler's message when the sources cannot be bundled.
 */
export async function writeBundle(plan: BundlePlan): Promise<string> {
  const { place } = plan;
  const draft = join(place, `draft-${process.pid}`);
  // First, because it fails at once in a folder that this process may not write to.
  mkdirSync(draft, { recursive: true });
  try {
    const { chunks, contents } = await bundleSources(plan, draft);
    writeFileSync(join(draft, preloadName), composePreload(chunks));
    removeUnused(place, readSourceList(place)?.name);
    const name = nameBundle(plan, contents);
    moveUnlessThere(draft, join(place, name));
    const list: SourceList = { name, sources: [...contents.keys()] };
    const listDraft = `${draft}.json`;
    writeFileSync(listDraft, JSON.stringify(list));
    renameSync(listDraft, sourceListOf(place));
    return join(place, name, preloadName);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

const sourceListOf = (place: string) => join(place, 'sources.json');

/** Returns null for a list that another version has written, too. */
function readSourceList(place: string): SourceList | null {
  const text = readOptional(sourceListOf(place));
  const list: Partial<SourceList> = text === null ? {} : JSON.parse(text.toString('utf8'));
  const { name, sources } = list;
  return typeof name === 'string' && Array.isArray(sources) ? { name, sources } : null;
}

function readOptional(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** A bundle contains the paths of its sources, so that it belongs to one root. */
function nameBundle(plan: BundlePlan, contents: ReadonlyMap<string, string | Buffer>): string {
  const hash = createHash('sha256').update(JSON.stringify([plan.root, plan.entries]));
  for (const [source, content] of contents) hash.update(`\n${source}\n`).update(content);
  return hash.digest('hex').slice(0, 24);
}

/**
 * @returns what the sources contained when they were bundled: a source that is changed meanwhile
 *   must not give its new hash to the bundle.
 */
async function bundleSources({ root, entries }: BundlePlan, dir: string) {
  // Loaded only for this: most processes find their bundle.
  const { rolldown } = await import('rolldown');
  const contents = new Map<string, string | Buffer>();
  // The lock represents the packages.
  for (const path of [join(root, 'package-lock.json'), import.meta.filename]) {
    contents.set(relative(root, path), readFileSync(path));
  }
  const read = new Map<string, string>();
  const transform = (code: string, path: string) => {
    if (isOfPackage(path) || !path.startsWith(root)) return undefined;
    read.set(relative(root, path), code);
    // The lines stay where they are, so that the source map stays correct.
    return { code: keepPath(code, path), map: null };
  };
  const bundle = await rolldown({
    cwd: root,
    platform: 'node',
    // Each part has the name of its entry.
    input: Object.fromEntries([
      ...entries.map((entry) => [entry, join(root, entry)]),
      ...packages.map((name) => [name, name]),
    ]),
    external: (id, importer) => !isBundled(id, importer),
    plugins: [{ name: 'sources', transform }],
  });
  try {
    const { output } = await bundle.write({ dir, format: 'esm', sourcemap: 'hidden' });
    for (const source of [...read.keys()].sort()) contents.set(source, read.get(source) ?? '');
    for (const manifest of findManifests(root, read.keys())) {
      contents.set(manifest, readFileSync(join(root, manifest)));
    }
    return { chunks: output.filter((file) => file.type === 'chunk'), contents };
  } finally {
    await bundle.close();
  }
}

/** The manifests of the workspaces, whose exports say where their sources are. */
function findManifests(root: string, sources: Iterable<string>): string[] {
  const folders = [...sources].map((source) => /^packages[\\/][^\\/]+/.exec(source)?.[0] ?? '');
  return [...new Set(folders)]
    .map((folder) => join(folder, 'package.json'))
    .filter((manifest) => existsSync(join(root, manifest)))
    .sort();
}

/** Packages that starts of hubs, commands and agents load, with what they depend on. */
const startPackages = new RegExp(
  `^(${[
    ...['typebox', 'fastify', '@fastify/cookie', 'croner'],
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
function composePreload(chunks: readonly OutputChunk[]): string {
  const parts = chunks.flatMap(({ isEntry, name, facadeModuleId: source, fileName }) =>
    isEntry && source !== null ? [{ name, source, fileName }] : [],
  );
  const byUrl = parts.map(({ source, fileName }) => [pathToFileURL(source).href, fileName]);
  const byName = parts.flatMap(({ name, fileName }) =>
    packages.includes(name) ? [[name, fileName]] : [],
  );
  return `import * as module from 'node:module';

const byUrl = new Map(${JSON.stringify(byUrl)});
const byName = new Map(${JSON.stringify(byName)});

// Some tests start programs on older Nodes, which have no such hooks.
module.registerHooks?.({
  resolve(specifier, context, next) {
    // Sources get a package of this bundle even where an earlier bundle has it, too. Packages may
    // need another version of it.
    const isOfSource = context.parentURL?.includes('/node_modules/') === false;
    const named = isOfSource ? byName.get(specifier) : undefined;
    const found = named === undefined ? next(specifier, context) : undefined;
    const fileName = named ?? byUrl.get(found.url);
    if (fileName === undefined) return found;
    return { url: new URL(fileName, import.meta.url).href, format: 'module', shortCircuit: true };
  },
});
`;
}

function moveUnlessThere(draft: string, folder: string): void {
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another process has bundled the same sources first.
    if (!existsSync(folder)) throw error;
  }
}

/** @param replaced the bundle that running processes may have used until now. */
function removeUnused(place: string, replaced: string | undefined): void {
  for (const name of readdirSync(place)) {
    const path = join(place, name);
    if (name === replaced) utimesSync(path, new Date(), new Date());
    const usedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - usedMs > keptMs) rmSync(path, { recursive: true, force: true });
  }
}

import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { readImports } from '../check/file-imports.ts';

/** For each file the files that it needs at run time, as paths relative to the root. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Edges that no source text shows. Pages are tested as built, so a test that opens a browser needs
 * the console's source.
 */
const hiddenEdges: Readonly<Record<string, string>> = {
  'e2e/browser.ts': 'packages/console/src/main.tsx',
};

const scope = '@signalbox/';
/** A short text in quotes; file names contain no spaces here. */
const quoted = /(['"`])([^\s'"`]{1,200})\1/g;

/**
 * Reads what the source files among `files` need: their imports (types do not count), and every
 * quoted text that names a file of `files` from the file's folder, its package or the root. The
 * latter finds `new URL('./x.ts', import.meta.url)`, workers, scripts that a test spawns and
 * fixtures. A path that is put together from parts is not found.
 */
export function readImportGraph(root: string, files: readonly string[]): ImportGraph {
  const known = new Set(files);
  const entries = new Map<string, string | undefined>();
  const entryOf = (name: string) => {
    if (!entries.has(name)) entries.set(name, readEntry(root, name));
    return entries.get(name);
  };
  const graph = new Map<string, Set<string>>();
  for (const file of files) {
    if (!/\.(tsx?|mjs)$/.test(file) || !existsSync(join(root, file))) continue;
    const source = readFileSync(join(root, file), 'utf8');
    const paths = [...listImported(file, source, entryOf), ...listQuoted(file, source)];
    const needs = new Set(paths.filter((path) => path !== file && known.has(path)));
    const hidden = hiddenEdges[file];
    if (hidden !== undefined) needs.add(hidden);
    graph.set(file, needs);
  }
  return graph;
}

function listImported(
  file: string,
  source: string,
  entryOf: (name: string) => string | undefined,
): string[] {
  return readImports(file, source)
    .filter(({ typeOnly }) => !typeOnly)
    .flatMap(({ target }) => {
      if (target.startsWith('.')) return posix.join(posix.dirname(file), target);
      return target.startsWith(scope) ? (entryOf(target.slice(scope.length)) ?? []) : [];
    });
}

/** The paths that quoted texts may name. */
function listQuoted(file: string, source: string): string[] {
  const [first, second] = file.split('/');
  return [...withoutTypeImports(source).matchAll(quoted)].flatMap(([, , text = '']) => {
    const beside = posix.join(posix.dirname(file), text);
    // `README.md` is also a file of the small repositories that tests make.
    if (!text.includes('/') && first !== 'scripts') return [beside];
    return [beside, posix.join(`${first}/${second}`, text), posix.normalize(text)];
  });
}

function withoutTypeImports(source: string): string {
  return source.replace(/^(import|export) type [^;]*;/gm, '');
}

/** The file that exports `@signalbox/<target>`: a package, or a part of one. */
function readEntry(root: string, target: string): string | undefined {
  const [name = '', ...part] = target.split('/');
  const path = join(root, 'packages', name, 'package.json');
  if (!existsSync(path)) return undefined;
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { exports?: Record<string, string> };
  const entry = manifest.exports?.[['.', ...part].join('/')];
  return entry === undefined ? undefined : posix.join('packages', name, entry);
}

/** For each file the files that need it directly. */
export function reverseGraph(graph: ImportGraph): ImportGraph {
  const users = new Map<string, Set<string>>();
  for (const [file, needs] of graph) {
    for (const need of needs) users.set(need, (users.get(need) ?? new Set()).add(file));
  }
  return users;
}

/** Everything that can be reached from `starts`, which are included. */
export function reachFrom(graph: ImportGraph, starts: Iterable<string>): ReadonlySet<string> {
  const found = new Set(starts);
  for (const file of found) {
    for (const next of graph.get(file) ?? []) found.add(next);
  }
  return found;
}

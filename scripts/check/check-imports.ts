import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type FileImport, readImports } from './file-imports.ts';
import { judgeLayers, judgeOutside, judgePackage, type Place } from './import-table.ts';
import { findModuleCycles, listModuleEdges } from './module-graph.ts';
import { codeFolders, listFiles } from './source-files.ts';
import { findTableUses, sharedReads } from './table-owners.ts';

/** A rejected import or a cycle of modules. `file` is a path of the root, `line` counts from 1. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

const scope = '@signalbox/';

/** All violations of the import table under `root`, ordered by file and line. */
export function checkImports(root: string): Finding[] {
  const findings: Finding[] = [];
  const graph = new Map<string, FileImport[]>();
  const manifests = new ManifestShelf(root);
  const files = codeFolders.flatMap((folder) => listFiles(root, folder, ['.ts', '.tsx']));
  // A check without input must not pass.
  if (files.length === 0) return [{ file: 'packages', line: 1, message: 'no source files found' }];
  for (const file of files) {
    const from = placeOf(file);
    const inside: FileImport[] = [];
    const source = readFileSync(join(root, file), 'utf8');
    for (const found of readImports(file, source)) {
      const message = found.target.startsWith('.')
        ? judgeRelative(root, from, found, inside)
        : judgeBare(from, found, manifests);
      if (message !== undefined) findings.push({ file, line: found.line, message });
    }
    graph.set(file, inside);
    findings.push(...judgeTables(from, source));
  }
  for (const edge of findModuleCycles(listModuleEdges(graph))) {
    const message = `cycle of modules: ${edge.from} and ${edge.to} use each other`;
    findings.push({ file: edge.file, line: edge.line, message });
  }
  return findings;
}

/** SQL may name only tables of its own folder; migrations may name all tables. */
function judgeTables(from: Place, source: string): Finding[] {
  if (from.package !== 'hub' || from.part !== 'src') return [];
  if (from.inner.startsWith('db/migrations/')) return [];
  const [folder = ''] = from.inner.split('/');
  return findTableUses(from.path, source)
    .filter(({ owner }) => owner !== folder)
    .filter(({ table }) => !(`${from.inner} ${table}` in sharedReads))
    .map(({ table, owner, line }) => ({
      file: from.path,
      line,
      message: `the table ${table} belongs to ${owner}/: call a function of it`,
    }));
}

export function placeOf(path: string): Place {
  const [first, name, part, ...rest] = path.split('/');
  if (first !== 'packages') return { path, package: undefined, part: 'aside', inner: '' };
  const isSource = part === 'src' && !/\.test\.tsx?$/.test(path);
  return {
    path,
    package: name,
    part: isSource ? 'src' : 'aside',
    inner: isSource ? rest.join('/') : '',
  };
}

/** Judges an import by path. If the target exists, adds it to the graph. */
function judgeRelative(
  root: string,
  from: Place,
  found: FileImport,
  edges: FileImport[],
): string | undefined {
  // Vite's suffixes (`./icon.svg?url`) are not part of the path.
  const target = posix.join(posix.dirname(from.path), found.target.replace(/\?.*$/, ''));
  if (!existsSync(join(root, target))) return `${found.target} does not exist`;
  edges.push({ ...found, target });
  const to = placeOf(target);
  if (from.package !== to.package) {
    return to.package === undefined
      ? 'a package imports nothing outside its folder'
      : `deep import: use ${scope}${to.package}`;
  }
  if (from.part !== 'src') return undefined;
  if (to.part !== 'src') {
    return to.path.endsWith('.json') ? undefined : 'shipped code imports nothing outside src';
  }
  return from.package === 'hub' ? judgeLayers(from.inner, to.inner, found.typeOnly) : undefined;
}

function judgeBare(from: Place, found: FileImport, manifests: ManifestShelf): string | undefined {
  const { target } = found;
  if (target.startsWith('node:')) return judgeOutside(from, target);
  // Provided by a plugin of the console's build; its types are declared in the console.
  if (target.startsWith('virtual:') && from.package === 'console') return undefined;
  const name = target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
  const isOurs = name.startsWith(scope);
  if (isOurs && target !== name && !manifests.exports(name, target)) {
    return `deep import: use ${name}`;
  }
  const refusal = isOurs ? judgePackage(from, name.slice(scope.length)) : judgeOutside(from, name);
  if (refusal !== undefined) return refusal;
  // Tests and root scripts may use any package of the workspace.
  if (isOurs && from.part === 'aside') return undefined;
  return manifests.declares(from, name) ? undefined : `${name} is not in package.json`;
}

interface Manifest {
  readonly exports?: Record<string, string>;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

/** Reads each package.json once. */
class ManifestShelf {
  readonly #root: string;
  readonly #manifests = new Map<string, Manifest>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Shipped code needs a real dependency; tests may also use development packages of the root. */
  declares(from: Place, name: string): boolean {
    const rootManifest = this.#read('package.json');
    const own =
      from.package === undefined
        ? rootManifest
        : this.#read(`packages/${from.package}/package.json`);
    const lists = [own.dependencies, own.optionalDependencies];
    // The console ships as one bundle, created at build time.
    if (from.part === 'aside' || from.package === 'console') lists.push(own.devDependencies);
    if (from.part === 'aside') lists.push(rootManifest.devDependencies);
    return lists.some((list) => list?.[name] !== undefined);
  }

  /** Whether a package of the project has an entry of this name beside its main one. */
  exports(name: string, target: string): boolean {
    const { exports } = this.#read(`packages/${name.slice(scope.length)}/package.json`);
    return exports?.[`.${target.slice(name.length)}`] !== undefined;
  }

  #read(path: string): Manifest {
    const known = this.#manifests.get(path);
    if (known !== undefined) return known;
    const fullPath = join(this.#root, path);
    const manifest: Manifest = existsSync(fullPath)
      ? JSON.parse(readFileSync(fullPath, 'utf8'))
      : {};
    this.#manifests.set(path, manifest);
    return manifest;
  }
}

import { readFileSync } from 'node:fs';
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
  const files = codeFolders.flatMap((folder) => listFiles(root, folder, ['.ts', '.tsx']));
  // A check without input must not pass.
  if (files.length === 0) return [{ file: 'packages', line: 1, message: 'no source files found' }];
  for (const file of files) {
    const from = placeOf(file);
    const inside: FileImport[] = [];
    const source = readFileSync(join(root, file), 'utf8');
    for (const found of readImports(file, source)) {
      const message = found.target.startsWith('.')
        ? judgeRelative(from, found, inside)
        : judgeBare(from, found);
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

/** Judges an import by path, and adds it to the graph. */
function judgeRelative(from: Place, found: FileImport, edges: FileImport[]): string | undefined {
  // Vite's suffixes (`./icon.svg?url`) are not part of the path.
  const target = posix.join(posix.dirname(from.path), found.target.replace(/\?.*$/, ''));
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

/** Biome holds package.json to the imports, and the compiler the exports of a package. */
function judgeBare(from: Place, { target }: FileImport): string | undefined {
  if (target.startsWith('node:')) return judgeOutside(from, target);
  const parts = target.split('/');
  const name = parts.slice(0, target.startsWith('@') ? 2 : 1).join('/');
  return name.startsWith(scope)
    ? judgePackage(from, name.slice(scope.length))
    : judgeOutside(from, name);
}

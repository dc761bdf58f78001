import type { FileImport } from './file-imports.ts';
import { layerOf } from './import-table.ts';

/** One file of a module uses a value of another module. */
export interface ModuleEdge {
  readonly file: string;
  readonly line: number;
  readonly from: string;
  readonly to: string;
}

const hubSource = 'packages/hub/src/';

/** The value imports between the hub's modules, in the order of files. Types do not count. */
export function listModuleEdges(graph: ReadonlyMap<string, readonly FileImport[]>): ModuleEdge[] {
  const edges: ModuleEdge[] = [];
  for (const [file, imports] of graph) {
    const from = moduleOf(file);
    if (from === undefined) continue;
    for (const { target, line, typeOnly } of imports) {
      const to = moduleOf(target);
      if (typeOnly || to === undefined || to === from) continue;
      edges.push({ file, line, from, to });
    }
  }
  return edges;
}

function moduleOf(path: string): string | undefined {
  return path.startsWith(hubSource) ? layerOf(path.slice(hubSource.length)).module : undefined;
}

/**
 * The edges that lie on a cycle of modules: both ends are in one strongly connected component.
 * None, when the modules form a directed acyclic graph.
 */
export function findModuleCycles(edges: readonly ModuleEdge[]): ModuleEdge[] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of edges) next.set(from, (next.get(from) ?? new Set()).add(to));
  const reached = new Map([...next.keys()].map((name) => [name, reach(next, name)]));
  return edges.filter(({ from, to }) => reached.get(to)?.has(from) ?? false);
}

function reach(next: ReadonlyMap<string, ReadonlySet<string>>, start: string): Set<string> {
  const found = new Set<string>();
  const frontier = [start];
  for (const name of frontier) {
    for (const to of next.get(name) ?? []) {
      if (found.has(to)) continue;
      found.add(to);
      frontier.push(to);
    }
  }
  return found;
}

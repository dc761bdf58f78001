import type { FileImport } from './file-imports.ts';

/**
 * Finds the cycles of a file graph: for each strongly connected component, a shortest cycle through
 * its first file by name. Type imports count, because a cycle of types is just as hard to read.
 */
export function findCycles(graph: ReadonlyMap<string, readonly FileImport[]>): string[][] {
  const cycles: string[][] = [];
  const covered = new Set<string>();
  for (const file of [...graph.keys()].sort()) {
    if (covered.has(file)) continue;
    const cycle = findWayBack(graph, file);
    if (cycle === undefined) continue;
    cycles.push(cycle);
    for (const member of findComponent(graph, file)) covered.add(member);
  }
  return cycles;
}

/** Breadth-first search, so that the result is a shortest cycle. */
function findWayBack(
  graph: ReadonlyMap<string, readonly FileImport[]>,
  start: string,
): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const frontier = [start];
  for (const file of frontier) {
    for (const { target } of graph.get(file) ?? []) {
      if (target === start) return traceBack(cameFrom, start, file);
      if (cameFrom.has(target)) continue;
      cameFrom.set(target, file);
      frontier.push(target);
    }
  }
  return undefined;
}

function traceBack(cameFrom: ReadonlyMap<string, string>, start: string, last: string): string[] {
  const way = [last];
  for (let file = last; file !== start; ) {
    file = cameFrom.get(file) ?? start;
    way.unshift(file);
  }
  return way;
}

/** All files that are reachable from `start` and can reach it. */
function findComponent(
  graph: ReadonlyMap<string, readonly FileImport[]>,
  start: string,
): Set<string> {
  const backwards = new Map<string, FileImport[]>();
  for (const [file, edges] of graph) {
    for (const edge of edges) {
      const sources = backwards.get(edge.target) ?? [];
      sources.push({ ...edge, target: file });
      backwards.set(edge.target, sources);
    }
  }
  return findReached(graph, start).intersection(findReached(backwards, start));
}

function findReached(
  graph: ReadonlyMap<string, readonly FileImport[]>,
  start: string,
): Set<string> {
  const reached = new Set([start]);
  for (const file of reached) {
    for (const { target } of graph.get(file) ?? []) reached.add(target);
  }
  return reached;
}

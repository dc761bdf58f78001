import type { FileImport } from './file-imports.ts';

/**
 * The cycles of a graph of files, one for each knot of files that all reach each other: a shortest
 * way from the knot's first file (by name) back to it. Imports of types count: a knot of types
 * cannot be read from one end either.
 */
export function findCycles(graph: ReadonlyMap<string, readonly FileImport[]>): string[][] {
  const cycles: string[][] = [];
  const knotted = new Set<string>();
  for (const file of [...graph.keys()].sort()) {
    if (knotted.has(file)) continue;
    const cycle = findWayBack(graph, file);
    if (cycle === undefined) continue;
    cycles.push(cycle);
    for (const member of findKnot(graph, file)) knotted.add(member);
  }
  return cycles;
}

/** Breadth first, so that the way found is a shortest one. */
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

/** All files that are reached from `start` and reach it. */
function findKnot(graph: ReadonlyMap<string, readonly FileImport[]>, start: string): Set<string> {
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

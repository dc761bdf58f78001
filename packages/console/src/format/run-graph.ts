import type { RunJob } from '@signalbox/contract';

/** Sizes in the units of the drawing, which are pixels. */
export const NODE_WIDTH = 208;
export const NODE_HEIGHT = 52;
const GAP_X = 56;
const GAP_Y = 16;
const MARGIN = 8;

interface GraphNode {
  job: RunJob;
  level: number;
  x: number;
  y: number;
}

interface GraphEdge {
  from: GraphNode;
  to: GraphNode;
  /** A child comes from the completion of its parent; a dependency must be done first. */
  kind: 'child' | 'dependency';
  path: string;
}

export interface RunGraph {
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
  width: number;
  height: number;
}

interface Link {
  from: string;
  to: string;
  kind: GraphEdge['kind'];
}

/**
 * Lays out jobs in columns: each is one column to the right of the last job that it follows. Within
 * a column, jobs are ordered by the middle of those that they follow, so that few lines cross.
 */
export function layOutRun(jobs: readonly RunJob[]): RunGraph {
  const links = linksOf(jobs);
  const followed = Map.groupBy(links, ({ to }) => to);
  const levels = levelsOf(jobs, followed);
  const columns = Map.groupBy(jobs, (job) => levels.get(job.jobId) ?? 0);
  const nodes = new Map<string, GraphNode>();
  for (const [level, column] of [...columns].sort(([a], [b]) => a - b)) {
    const middleOf = (job: RunJob) => {
      const ys = (followed.get(job.jobId) ?? []).flatMap(({ from }) => nodes.get(from)?.y ?? []);
      return ys.length === 0 ? 0 : ys.reduce((sum, y) => sum + y, 0) / ys.length;
    };
    const ordered = column
      .map((job) => ({ job, middle: middleOf(job) }))
      .sort((a, b) => a.middle - b.middle);
    ordered.forEach(({ job }, place) => {
      const x = MARGIN + level * (NODE_WIDTH + GAP_X);
      nodes.set(job.jobId, { job, level, x, y: MARGIN + place * (NODE_HEIGHT + GAP_Y) });
    });
  }
  const rows = Math.max(0, ...[...columns.values()].map((column) => column.length));
  return {
    nodes: jobs.flatMap((job) => nodes.get(job.jobId) ?? []),
    edges: links.flatMap((link) => drawEdge(link, nodes)),
    width: 2 * MARGIN + columns.size * (NODE_WIDTH + GAP_X) - GAP_X,
    height: 2 * MARGIN + rows * (NODE_HEIGHT + GAP_Y) - GAP_Y,
  };
}

/** The edges between jobs of the graph; those to other jobs are left out. */
function linksOf(jobs: readonly RunJob[]): Link[] {
  const known = new Set(jobs.map(({ jobId }) => jobId));
  return jobs.flatMap(({ jobId, parentJobId, dependsOn }) => {
    const parent = parentJobId === null ? [] : [{ from: parentJobId, kind: 'child' as const }];
    const others = dependsOn.filter((from) => from !== parentJobId);
    return [...parent, ...others.map((from) => ({ from, kind: 'dependency' as const }))]
      .filter(({ from }) => known.has(from) && from !== jobId)
      .map((link) => ({ ...link, to: jobId }));
  });
}

/** The column of each job. Jobs follow older ones; a circle is cut where it would close. */
function levelsOf(
  jobs: readonly RunJob[],
  followed: ReadonlyMap<string, readonly Link[]>,
): ReadonlyMap<string, number> {
  const levels = new Map<string, number>();
  const levelOf = (jobId: string, path: ReadonlySet<string>): number => {
    const known = levels.get(jobId);
    if (known !== undefined) return known;
    const links = (followed.get(jobId) ?? []).filter(({ from }) => !path.has(from));
    const deeper = new Set(path).add(jobId);
    const level = Math.max(-1, ...links.map(({ from }) => levelOf(from, deeper))) + 1;
    levels.set(jobId, level);
    return level;
  };
  // Oldest first, so that most lookups end at a known level.
  for (const { jobId } of jobs) levelOf(jobId, new Set());
  return levels;
}

function drawEdge({ from, to, kind }: Link, nodes: ReadonlyMap<string, GraphNode>): GraphEdge[] {
  const [start, end] = [nodes.get(from), nodes.get(to)];
  if (start === undefined || end === undefined) return [];
  const [x1, y1] = [start.x + NODE_WIDTH, start.y + NODE_HEIGHT / 2];
  const [x2, y2] = [end.x - 6, end.y + NODE_HEIGHT / 2];
  const bend = GAP_X / 2;
  const path = `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  return [{ from: start, to: end, kind, path }];
}

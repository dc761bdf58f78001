import type { JobStatus, RunJob } from '@signalbox/contract';
import { Link } from '@tanstack/react-router';
import { classNames } from '../../class-names.ts';
import { NO_CHANGES, statusWords } from '../../format/job-words.ts';
import { layOutRun, NODE_HEIGHT, NODE_WIDTH } from '../../format/run-graph.ts';
import { firstLine } from '../../format/text.ts';
import { formatDuration } from '../../format/time.ts';

/** Characters that fit into a node: a drawing cannot cut a text by its width. */
const TITLE_CHARS = 26;

const tones: Readonly<Record<JobStatus, { bar: string; word: string }>> = {
  pending: { bar: 'fill-control', word: 'fill-pending' },
  running: { bar: 'fill-running', word: 'fill-running' },
  done: { bar: 'fill-done', word: 'fill-done' },
  failed: { bar: 'fill-failed', word: 'fill-failed' },
  blocked: { bar: 'fill-attention', word: 'fill-attention' },
  canceled: { bar: 'fill-control', word: 'fill-canceled' },
};

/** Done without the change that it was to make. */
const unchanged = { bar: 'fill-warning', word: 'fill-warning' } as const;

/** The jobs of a run from left to right, each after those that it follows. */
export function RunGraphView({ jobs, slug }: { jobs: readonly RunJob[]; slug: string }) {
  const { nodes, edges, width, height } = layOutRun(jobs);
  const hasChildren = edges.some(({ kind }) => kind === 'child');
  const hasDependencies = edges.some(({ kind }) => kind === 'dependency');
  return (
    <figure className="grid gap-2">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards scroll it. */}
      <section aria-label="Graph" tabIndex={0} className="overflow-auto rounded-md bg-well">
        {/* biome-ignore lint/a11y/useSemanticElements: SVG has no element for a named group. */}
        <svg
          role="group"
          aria-label="Jobs in their order"
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          className="block"
        >
          <defs>
            <marker
              id="arrow"
              viewBox="0 0 6 6"
              refX="1"
              refY="3"
              markerWidth="6"
              markerHeight="6"
              orient="auto"
            >
              <path d="M0 0 6 3 0 6Z" className="fill-control" />
            </marker>
          </defs>
          {edges.map(({ from, to, kind, path }) => (
            <path
              key={`${from.job.jobId} ${to.job.jobId}`}
              d={path}
              fill="none"
              markerEnd="url(#arrow)"
              strokeWidth="1.5"
              className="stroke-control"
              {...(kind === 'dependency' && { strokeDasharray: '4 4' })}
            />
          ))}
          {nodes.map(({ job, x, y }) => (
            <Node key={job.jobId} job={job} x={x} y={y} slug={slug} />
          ))}
        </svg>
      </section>
      {(hasChildren || hasDependencies) && (
        <figcaption className="flex flex-wrap gap-x-4 text-xs text-muted">
          {hasChildren && <Legend line="">enqueued by</Legend>}
          {hasDependencies && <Legend line="4 4">waits for</Legend>}
        </figcaption>
      )}
    </figure>
  );
}

function Legend({ line, children }: { line: string; children: string }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <svg aria-hidden="true" width="24" height="6">
        <path d="M0 3H24" strokeWidth="1.5" strokeDasharray={line} className="stroke-control" />
      </svg>
      {children}
    </span>
  );
}

function Node({ job, x, y, slug }: { job: RunJob; x: number; y: number; slug: string }) {
  const { bar, word } = job.changed === false ? unchanged : tones[job.status];
  const state = stateOf(job);
  return (
    <Link
      to="/w/$slug/jobs/$jobId"
      params={{ slug, jobId: job.jobId }}
      className="group outline-none"
    >
      <rect
        x={x}
        y={y}
        width={NODE_WIDTH}
        height={NODE_HEIGHT}
        rx="6"
        className="fill-surface stroke-line stroke-1 group-hover:fill-hover group-focus-visible:stroke-accent group-focus-visible:stroke-2"
      />
      <rect x={x} y={y + 6} width="3" height={NODE_HEIGHT - 12} rx="1.5" className={bar} />
      <text x={x + 14} y={y + 21} className="fill-ink text-sm font-medium">
        {firstLine(job.title, TITLE_CHARS) || job.jobId.slice(0, TITLE_CHARS)}
      </text>
      <text x={x + 14} y={y + 39} className={classNames('text-xs', word)}>
        {state}
      </text>
    </Link>
  );
}

/** The status of a job, and how long its last attempt took. */
function stateOf({ status, changed, startedAt, finishedAt }: RunJob): string {
  const word = status === 'done' && changed === false ? NO_CHANGES : statusWords[status];
  if (startedAt === null || finishedAt === null) return word;
  return `${word} · ${formatDuration(Date.parse(finishedAt) - Date.parse(startedAt))}`;
}

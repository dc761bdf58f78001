import type { Job } from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { logEndQuery } from '../api/log-queries.ts';
import { Panel } from '../parts/record/facts.tsx';
import { LogLines } from './log-lines.tsx';

const LINES = 12;

/** The latest output of a running job, and the way to its log. */
export function LatestOutput({ job }: { job: Job }) {
  const { workspaceId, jobId, attempt } = job;
  const { data } = useQuery(logEndQuery({ workspaceId, jobId, attempt }, LINES));
  const lines = data?.lines ?? [];
  return (
    <Panel title="Latest output">
      {lines.length === 0 ? (
        <p className="text-sm text-muted">
          {data === undefined ? 'Loading the output …' : 'No output yet.'}
        </p>
      ) : (
        <LogLines lines={lines} />
      )}
      <Link
        to="."
        search={{ tab: 'log' }}
        className="justify-self-start py-1 text-sm text-accent underline underline-offset-2"
      >
        Open the log
      </Link>
    </Panel>
  );
}

import type { Job, JobAttempt } from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { jobQuery } from '../api/job-queries.ts';
import { verdictWords } from '../format/job-words.ts';
import { formatCost } from '../format/money.ts';
import { plainText } from '../format/text.ts';
import { formatDuration } from '../format/time.ts';
import { tokensOf } from '../format/tool-words.ts';
import { Panel } from '../parts/record/facts.tsx';

/** Compares the attempts of a job that has several. */
export function AttemptsPanel({ job }: { job: Job }) {
  const { data } = useQuery(jobQuery(job.workspaceId, job.jobId));
  const attempts = data?.attempts ?? [];
  if (attempts.length < 2) return null;
  return (
    <Panel title="Attempts">
      <div className="overflow-x-auto">
        <table className="w-full text-left text-sm tabular-nums">
          <thead className="text-xs text-muted">
            <tr>
              {['#', 'Outcome', 'Tool', 'Model', 'Time', 'Cost', 'Tokens'].map((title) => (
                <th key={title} scope="col" className="py-1 pr-4 font-medium">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {attempts.map((attempt) => (
              <Row key={attempt.attempt} attempt={attempt} />
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Row({ attempt }: { attempt: JobAttempt }) {
  const { outcome, verdict, tool, model, usage, startedAt, endedAt } = attempt;
  const tookMs = startedAt && endedAt ? Date.parse(endedAt) - Date.parse(startedAt) : null;
  const cells = [
    [outcome, verdict && verdictWords[verdict]].filter(Boolean).join(', '),
    tool && plainText(tool),
    model && plainText(model),
    tookMs !== null && formatDuration(Math.max(0, tookMs)),
    usage?.costUsd !== undefined && formatCost(usage.costUsd),
    tokensOf(attempt),
  ];
  return (
    <tr className="border-t">
      <th scope="row" className="py-1 pr-4 font-normal">
        {attempt.attempt}
      </th>
      {cells.map((cell, at) => (
        // The columns never change their places.
        // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a cell is.
        <td key={at} className="py-1 pr-4 whitespace-nowrap">
          {cell || '–'}
        </td>
      ))}
    </tr>
  );
}

import type { Job, JobVariant } from '@signalbox/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { callHub } from '../api/hub-call.ts';
import { statusWords, verdictWords } from '../format/job-words.ts';
import { formatCost } from '../format/money.ts';
import { plainText } from '../format/text.ts';
import { formatDuration } from '../format/time.ts';
import { viewerReason } from '../parts/form/action-button.tsx';
import { Button } from '../parts/form/button.tsx';
import { keepReachable } from '../parts/page/scroll-box.tsx';
import { Panel } from '../parts/record/facts.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';

interface VariantsPanelProps {
  job: Job;
  variants: readonly JobVariant[];
  slug: string;
  role: string;
}

/** Compares the tries of one work side by side; a person chooses one of them. */
export function VariantsPanel({ job, variants, slug, role }: VariantsPanelProps) {
  const { workspaceId } = job;
  const client = useQueryClient();
  const choose = useMutation({
    mutationFn: (jobId: string) => callHub('jobs', 'chooseVariant', { workspaceId, jobId }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['job', workspaceId] }),
  });
  const isOpen = variants.every(({ isChosen }) => isChosen === null);
  return (
    <Panel title="Variants">
      <div ref={keepReachable} className="relative overflow-x-auto">
        <table className="w-full text-left text-sm tabular-nums">
          <thead className="text-xs text-muted">
            <tr>
              {['Variant', 'Result', 'Checks', 'Files', 'Lines', 'Time', 'Cost', ''].map(
                (title) => (
                  <th key={title} scope="col" className="py-1 pr-4 font-medium">
                    {title || <span className="sr-only">Choice</span>}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {variants.map((variant, at) => (
              <tr key={variant.jobId} className="border-t">
                <th scope="row" className="py-1 pr-4 font-normal whitespace-nowrap">
                  <Link
                    to="/w/$slug/jobs/$jobId"
                    params={{ slug, jobId: variant.jobId }}
                    aria-current={isOf(variant, job) ? 'page' : undefined}
                    className="inline-flex min-h-6 items-center text-accent underline underline-offset-2 aria-[current]:font-semibold pointer-coarse:min-h-11"
                  >
                    {nameOf(variant, at)}
                  </Link>
                </th>
                {cellsOf(variant).map((cell, place) => (
                  // The columns never change their places.
                  // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a cell is.
                  <td key={place} className="py-1 pr-4 whitespace-nowrap">
                    {cell || '–'}
                  </td>
                ))}
                <td className="py-1">
                  {isOpen && viewerReason(role) === undefined && (
                    <Button
                      busy={choose.isPending && choose.variables === variant.jobId}
                      onClick={() => choose.mutate(variant.jobId)}
                    >
                      Choose<span className="sr-only"> {nameOf(variant, at)}</span>
                    </Button>
                  )}
                  {variant.isChosen !== null && (variant.isChosen ? 'Chosen' : 'Not chosen')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {isOpen && (
        <p className="text-xs text-muted">
          A choice is final: variants that still run are canceled. Their branches stay.
        </p>
      )}
      {choose.error && <ErrorNotice error={choose.error} />}
    </Panel>
  );
}

/** A later round belongs to its variant, too. */
function isOf({ jobId }: JobVariant, job: Job): boolean {
  return jobId === (job.workJobId ?? job.jobId);
}

export function nameOf({ tool, model }: JobVariant, at: number): string {
  const words = [tool, model].filter((word) => word !== null).map(plainText);
  return `${at + 1}. ${words.join(', ') || 'any tool'}`;
}

function cellsOf(variant: JobVariant): (string | false | null | undefined)[] {
  const { status, verdict, checks, files, linesAdded, linesDeleted, costUsd } = variant;
  const { startedAt, finishedAt } = variant;
  const tookMs = startedAt && finishedAt ? Date.parse(finishedAt) - Date.parse(startedAt) : null;
  return [
    [statusWords[status], verdict && verdictWords[verdict]].filter(Boolean).join(', '),
    checks.total > 0 && `${checks.passed} of ${checks.total} passed`,
    files?.toLocaleString('en'),
    linesAdded !== null && `+${linesAdded} −${linesDeleted ?? 0}`,
    tookMs !== null && formatDuration(Math.max(0, tookMs)),
    costUsd !== null && formatCost(costUsd),
  ];
}

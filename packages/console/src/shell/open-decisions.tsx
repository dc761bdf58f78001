import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { decisionCountsQuery } from '../api/decision-queries.ts';
import { setTitleCount } from '../parts/page-title.ts';

/** The number of open questions as text, such as `3` or `1,000+`; null: none, or not known. */
export function useOpenDecisions(workspaceId: string): string | null {
  const { data } = useQuery(decisionCountsQuery(workspaceId));
  if (data === undefined || data.counts.open === 0) return null;
  return `${data.counts.open.toLocaleString('en')}${data.capped.includes('open') ? '+' : ''}`;
}

/** Shows the number of open questions in the title of the tab. */
export function OpenDecisionsTitle({ workspaceId }: { workspaceId: string }) {
  const count = useOpenDecisions(workspaceId);
  useEffect(() => {
    setTitleCount(count);
    return () => setTitleCount(null);
  }, [count]);
  return null;
}

/** The number of open questions beside the word Inbox. */
export function OpenDecisionsBadge({ workspaceId }: { workspaceId: string }) {
  const count = useOpenDecisions(workspaceId);
  if (count === null) return null;
  return (
    <span className="grid h-5 min-w-5 shrink-0 place-items-center rounded-full bg-attention-fill px-1.5 text-xs font-medium text-white tabular-nums">
      {count}
      <span className="sr-only"> open</span>
    </span>
  );
}

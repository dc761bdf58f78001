import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { decisionCountsQuery } from '../api/decision-queries.ts';
import { setTitleCount } from '../parts/page/page-title.ts';

/** The number of open questions as text, such as `3` or `1,000+`; null: none, or not known. */
export function useOpenDecisions(workspaceId: string): string | null {
  const { data } = useQuery(decisionCountsQuery(workspaceId));
  if (data === undefined || data.counts.open === 0) return null;
  return `${data.counts.open.toLocaleString('en')}${data.capped.includes('open') ? '+' : ''}`;
}

/**
 * Says to screen readers that questions have arrived. Others see the number in the navigation and
 * in the tab.
 */
export function ArrivedDecisions({ workspaceId }: { workspaceId: string }) {
  const open = useQuery(decisionCountsQuery(workspaceId)).data?.counts.open;
  const [seen, setSeen] = useState(open);
  const [said, setSaid] = useState('');
  if (open !== seen) {
    setSeen(open);
    // The first number that is read is no news.
    if (open !== undefined && seen !== undefined) setSaid(arrivalWords(seen, open));
  }
  return (
    <p role="status" className="sr-only">
      {said}
    </p>
  );
}

function arrivalWords(before: number, now: number): string {
  if (now <= before) return '';
  const arrived = now - before === 1 ? 'A question has' : `${now - before} questions have`;
  return `${arrived} arrived in the inbox. ${now} open.`;
}

/** Shows the number of open questions in the title and the icon of the tab, and on an app. */
export function OpenDecisionsTab({ workspaceId }: { workspaceId: string }) {
  const count = useOpenDecisions(workspaceId);
  const open = useQuery(decisionCountsQuery(workspaceId)).data?.counts.open;
  useEffect(() => {
    // Not every browser has badges. 0 removes the badge.
    if (open !== undefined) void navigator.setAppBadge?.(open);
  }, [open]);
  useEffect(() => {
    setTitleCount(count);
    setFavicon(count);
    return () => {
      setTitleCount(null);
      setFavicon(null);
    };
  }, [count]);
  return null;
}

/** Chooses the icon of the tab; `favicon-plugin.ts` makes one for each number. */
function setFavicon(count: string | null): void {
  const link = document.querySelector('link[rel=icon]');
  if (count === null) link?.setAttribute('href', '/favicon.svg');
  else link?.setAttribute('href', `/favicon-${count.length === 1 ? count : '9-more'}.svg`);
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

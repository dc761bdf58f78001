import type { Job, PackSection } from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type RunOverview, runQuery } from '../api/fleet-queries.ts';
import { callHub } from '../api/hub-call.ts';
import { contextKindWords, trustWords } from '../format/context-words.ts';
import { plainText } from '../format/text.ts';
import { Fold } from '../parts/page/fold.tsx';
import { ScrollBox } from '../parts/page/scroll-box.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import { SkeletonRows } from '../parts/status/skeleton.tsx';

type Pack = RunOverview['packs'][number];

/**
 * The context pack for a job: the newest of its run that was there when the job ended. Which
 * attempt has read it is not recorded.
 */
export function ContextPanel({ job, slug }: { job: Job; slug: string }) {
  const { workspaceId, runId } = job;
  const { data } = useQuery({
    ...runQuery(workspaceId, runId ?? ''),
    enabled: runId !== null,
  });
  const [isOpen, setOpen] = useState(false);
  const endedAt = job.finishedAt ?? '9999';
  const pack = data?.packs.find(({ createdAt }) => createdAt <= endedAt);
  if (pack === undefined || runId === null) return null;
  const items = pack.items === 1 ? '1 item' : `${pack.items} items`;
  const size = `about ${pack.tokenEstimate.toLocaleString('en')} tokens`;
  return (
    <Fold
      title={`Context pack, version ${pack.version}: ${items}, ${size}`}
      open={isOpen}
      onToggle={setOpen}
    >
      {isOpen && <PackContent {...{ workspaceId, runId, pack, slug }} />}
    </Fold>
  );
}

interface PackContentProps {
  workspaceId: string;
  runId: string;
  pack: Pack;
  slug: string;
}

function PackContent({ workspaceId, runId, pack: { packId }, slug }: PackContentProps) {
  const { data, error } = useQuery({
    queryKey: ['context-pack', workspaceId, packId],
    queryFn: ({ signal }) =>
      callHub('contextPacks', 'resolveRunV1', { workspaceId, runId, packId }, signal),
  });
  if (data === undefined) {
    return error ? <ErrorNotice error={error} /> : <SkeletonRows what="the context" rows={3} />;
  }
  return (
    <div className="grid gap-3">
      <p className="text-sm text-muted">
        Tools of the run read it.{' '}
        <Link
          to="/w/$slug/settings/data"
          params={{ slug }}
          className="text-accent underline underline-offset-2"
        >
          All context items
        </Link>
      </p>
      {data.sections.map((section) => (
        <Section key={section.itemId} {...section} />
      ))}
    </div>
  );
}

function Section({ itemId, title, kind, trust, text, truncated }: PackSection) {
  const chars = `${text.length.toLocaleString('en')} characters${truncated ? ', cut' : ''}`;
  return (
    <details className="min-w-0">
      <summary className="min-h-6 cursor-pointer rounded-sm text-sm wrap-anywhere pointer-coarse:min-h-11">
        {plainText(title) || itemId}{' '}
        <span className="text-xs text-muted">
          {contextKindWords[kind]}, {trustWords[trust]}, {chars}
        </span>
      </summary>
      <ScrollBox className="mt-1 max-h-80 rounded-md bg-well px-3 py-2 text-sm whitespace-pre-wrap wrap-anywhere">
        {plainText(text)}
      </ScrollBox>
    </details>
  );
}

import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import { saveAuditLog } from '../../api/save-file.ts';
import {
  type AuditEntry,
  type AuditFilters,
  auditQuery,
  membersQuery,
} from '../../api/settings-queries.ts';
import { classNames } from '../../class-names.ts';
import { auditActions, auditWords } from '../../format/audit-words.ts';
import { type Age, ageWords } from '../../format/job-filters.ts';
import { plainText } from '../../format/text.ts';
import { adminReason } from '../../parts/form/action-button.tsx';
import { Button, buttonClasses } from '../../parts/form/button.tsx';
import { FilterChip } from '../../parts/form/filter-chip.tsx';
import { Icon } from '../../parts/page/icon.tsx';
import { MoreButton } from '../../parts/page/page-parts.tsx';
import { usePageTitle } from '../../parts/page/page-title.ts';
import { Section } from '../../parts/settings/section.tsx';
import { EmptyState } from '../../parts/status/empty-state.tsx';
import { ErrorNotice } from '../../parts/status/error-notice.tsx';
import { ReadFailure } from '../../parts/status/read-failure.tsx';
import { SkeletonRows } from '../../parts/status/skeleton.tsx';
import { RelativeTime } from '../../parts/text/relative-time.tsx';

const workspace = getRouteApi('/w/$slug');
const route = getRouteApi('/w/$slug/settings/audit');

/** Who did what, with a hash chain that shows whether an entry was altered. */
export function AuditPage() {
  const { membership } = workspace.useRouteContext();
  usePageTitle(`Audit log · ${membership.name}`);
  if (adminReason(membership.role) !== undefined) {
    return (
      <Section title="Audit log">
        <EmptyState icon="scroll-text" title="Owners and admins read the audit log">
          Your role is {membership.role}. It records who changed what in this workspace.
        </EmptyState>
      </Section>
    );
  }
  return (
    <Section
      title="Audit log"
      description="Who changed what, newest first. Each entry has the hash of the one before."
      action={<Tools workspaceId={membership.workspaceId} slug={membership.slug} />}
    >
      <Filters />
      <Entries />
    </Section>
  );
}

function Tools({ workspaceId, slug }: { workspaceId: string; slug: string }) {
  const verify = useMutation({ mutationFn: () => callHub('auditLog', 'verify', { workspaceId }) });
  const download = useMutation({ mutationFn: () => saveAuditLog(workspaceId, slug) });
  const failure = verify.error ?? download.error;
  return (
    <div className="grid justify-items-end gap-2">
      <div className="flex flex-wrap gap-2">
        <Button busy={verify.isPending} onClick={() => verify.mutate()}>
          Verify
        </Button>
        <Button busy={download.isPending} onClick={() => download.mutate()}>
          Download
        </Button>
      </div>
      {verify.data && (
        <p role="status" className="max-w-prose text-sm">
          {verify.data.whole
            ? `All ${verify.data.lastSeq} entries are whole. Keep this hash elsewhere to notice entries cut from the end: ${verify.data.lastHash.slice(0, 16)}…`
            : `Entry ${verify.data.brokenAtSeq} is not what was written (${verify.data.reason}). Compare it with a backup.`}
        </p>
      )}
      {failure && <ErrorNotice error={failure} />}
    </div>
  );
}

const ages = (Object.keys(ageWords) as Age[]).map((value) => ({ value, word: ageWords[value] }));

function Filters() {
  const { membership } = workspace.useRouteContext();
  const filters = route.useSearch();
  const navigate = route.useNavigate();
  const members = useQuery(membersQuery(membership.workspaceId));
  const narrow = (change: AuditFilters) =>
    navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  const people = (members.data?.members ?? []).map(({ personId, name }) => ({
    value: personId,
    word: plainText(name),
  }));
  return (
    <search className="flex flex-wrap items-center gap-2">
      <FilterChip
        label="Action"
        value={filters.action}
        options={auditActions(filters.action)}
        onChange={(action) => narrow({ action })}
      />
      <FilterChip
        label="Person"
        value={filters.actor}
        options={people}
        onChange={(actor) => narrow({ actor })}
      />
      <FilterChip
        label="Time"
        value={filters.since}
        options={ages}
        onChange={(since) => narrow({ since })}
      />
      {filters.subject && (
        <Link
          from="/w/$slug/settings/audit"
          search={({ subject: _subject, ...others }: AuditFilters) => others}
          className={buttonClasses('quiet')}
        >
          All records, not only {shortSubject(filters.subject)}
        </Link>
      )}
    </search>
  );
}

function Entries() {
  const { membership } = workspace.useRouteContext();
  const filters = route.useSearch();
  const list = useInfiniteQuery(auditQuery(membership.workspaceId, filters));
  if (list.isPending) return <SkeletonRows what="the audit log" rows={10} />;
  if (!list.data) return <ReadFailure read={list} />;
  const entries = list.data.pages.flatMap((page) => page.entries);
  if (entries.length === 0) {
    return (
      <EmptyState icon="scroll-text" title="No entry matches">
        Nothing in the log has this action, person, record and time.
      </EmptyState>
    );
  }
  return (
    <>
      <ol
        aria-label="Audit log"
        className="divide-y overflow-hidden rounded-lg border bg-surface text-sm"
      >
        {entries.map((entry) => (
          <EntryRow key={entry.seq} entry={entry} />
        ))}
      </ol>
      <MoreButton list={list}>Show more entries</MoreButton>
    </>
  );
}

function EntryRow({ entry }: { entry: AuditEntry }) {
  const { seq, at, actor, actorName, action, subject } = entry;
  const [isOpen, setOpen] = useState(false);
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] items-baseline gap-x-4 px-3 py-1.5 sm:grid-cols-[2.5rem_minmax(0,1fr)_auto] sm:px-4">
      <span className="hidden text-xs text-faint tabular-nums sm:block">{seq}</span>
      <div className="flex min-w-0 flex-wrap items-baseline gap-x-1.5">
        <span className="font-medium wrap-anywhere" title={actor}>
          {plainText(actorName ?? actor)}
        </span>
        <span className="wrap-anywhere">{auditWords(action)}</span>
        <Link
          from="/w/$slug/settings/audit"
          search={(now: AuditFilters) => ({ ...now, subject })}
          title={`Only entries of ${subject}`}
          className="py-1 font-mono text-xs text-muted underline-offset-2 wrap-anywhere hover:underline pointer-coarse:py-3.5"
        >
          {shortSubject(subject)}
        </Link>
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="flex items-center gap-1 py-1 text-xs text-muted hover:text-ink sm:ml-auto pointer-coarse:py-3.5"
        >
          Details
          <Icon name="chevron-down" className={classNames('size-3.5', isOpen && 'rotate-180')} />
        </button>
      </div>
      <RelativeTime at={at} className="text-right text-xs text-muted sm:min-w-18" />
      {isOpen && <EntryDetails entry={entry} />}
    </li>
  );
}

function EntryDetails({ entry: { at, actor, action, subject, data } }: { entry: AuditEntry }) {
  const hasData = Object.keys(data).length > 0;
  const all = { action, subject, actor, at, ...(hasData && { data }) };
  return (
    <pre className="col-span-full my-1 overflow-x-auto rounded-md bg-well p-2 font-mono text-xs whitespace-pre-wrap wrap-anywhere">
      {plainText(JSON.stringify(all, null, 2))}
    </pre>
  );
}

/** The end of an ID tells records apart; its beginning is the time. */
function shortSubject(subject: string): string {
  return /^[a-z]+_[0-9a-z]{16,}$/.test(subject) ? subject.slice(-8) : plainText(subject);
}

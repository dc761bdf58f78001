import type { JobVariant } from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useId, useMemo, useState } from 'react';
import { jobPatchQuery, jobQuery } from '../api/job-queries.ts';
import { plainText } from '../format/text.ts';
import { inputClasses } from '../parts/form/field.tsx';
import { Icon } from '../parts/page/icon.tsx';
import { Panel } from '../parts/record/facts.tsx';
import { ReadFailure } from '../parts/status/read-failure.tsx';
import { SkeletonRows } from '../parts/status/skeleton.tsx';
import { LineCounts } from '../review/file-row.tsx';
import { LineRow } from '../review/line-row.tsx';
import { type ReviewFile, readReviewFiles } from '../review/review-files.ts';
import { rowsOf } from '../review/review-rows.ts';
import { useColors } from '../review/use-colors.ts';

/** Of more lines together, the files are folded at first. */
const LINES_OPEN_MAX = 600;

interface VariantsDiffProps {
  workspaceId: string;
  variants: readonly JobVariant[];
  nameOf: (variant: JobVariant, at: number) => string;
}

/** The changes of two variants beside each other, file by file; on phones below each other. */
export function VariantsDiff({ workspaceId, variants, nameOf }: VariantsDiffProps) {
  const named = variants.map((variant, at) => ({ variant, name: nameOf(variant, at) }));
  const shown = named.filter(({ variant }) => variant.files !== null);
  const [chosen, setChosen] = useState<readonly [left: string, right: string]>();
  const [left = '', right = ''] = chosen ?? shown.map(({ variant }) => variant.jobId);
  const sides = [usePatchOf(workspaceId, left), usePatchOf(workspaceId, right)] as const;
  if (shown.length < 2) return null;
  const options = shown.map(({ variant, name }) => ({ value: variant.jobId, name }));
  const unread = sides.find(({ isPending, error }) => isPending || error !== null);
  return (
    <Panel title="Changes of two variants">
      <div className="grid gap-3 sm:grid-cols-2">
        <Choice
          label="One variant"
          value={left}
          options={options}
          onChange={(value) => setChosen([value, right])}
        />
        <Choice
          label="Other variant"
          value={right}
          options={options}
          onChange={(value) => setChosen([left, value])}
        />
      </div>
      {unread === undefined ? (
        <Files
          key={`${left} ${right}`}
          names={[left, right].map((id) => options.find(({ value }) => value === id)?.name ?? '')}
          left={sides[0].data?.patch ?? null}
          right={sides[1].data?.patch ?? null}
        />
      ) : (
        <Unread read={unread} />
      )}
    </Panel>
  );
}

function Unread({ read }: { read: ReturnType<typeof usePatchOf> }) {
  if (read.isPending) return <SkeletonRows what="the changes" rows={6} height="dense" />;
  return <ReadFailure read={read} />;
}

/** The patch of the latest round of a variant. */
function usePatchOf(workspaceId: string, variantId: string) {
  const job = useQuery({ ...jobQuery(workspaceId, variantId), enabled: variantId !== '' });
  const latestId = job.data && (job.data.work?.jobId ?? variantId);
  const query = jobPatchQuery(workspaceId, latestId ?? '');
  const patch = useQuery({ ...query, enabled: latestId !== undefined });
  return job.error === null ? patch : { ...patch, isPending: false, error: job.error };
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly { value: string; name: string }[];
  onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  const id = useId();
  return (
    <div className="grid min-w-0 gap-1">
      <label htmlFor={id} className="text-xs text-muted">
        {label}
      </label>
      <select
        id={id}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className={inputClasses}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.name}
          </option>
        ))}
      </select>
    </div>
  );
}

interface FilesProps {
  names: readonly string[];
  /** The patches. Null: its agent shares none, or it was deleted. */
  left: string | null;
  right: string | null;
}

function Files({ names, left, right }: FilesProps) {
  const sides = useMemo(
    () => [left, right].map((patch) => (patch === null ? null : readReviewFiles(patch))),
    [left, right],
  );
  const paths = [...new Set(sides.flatMap((files) => files?.map(({ path }) => path) ?? []))];
  const lines = sides.flatMap((files) => files?.map(({ lineCount }) => lineCount) ?? []);
  const areOpen = lines.reduce((sum, count) => sum + count, 0) <= LINES_OPEN_MAX;
  return (
    <>
      {names.map(
        (name, at) =>
          sides[at] === null && (
            <p key={name} className="text-sm text-muted">
              {name}: the hub has no changed lines of it.
            </p>
          ),
      )}
      {paths.sort().map((path) => (
        <FileOfBoth
          key={path}
          path={path}
          names={names}
          files={sides.map((files) => files?.find((file) => file.path === path))}
          isOpenFirst={areOpen}
        />
      ))}
    </>
  );
}

interface FileOfBothProps {
  path: string;
  names: readonly string[];
  files: readonly (ReviewFile | undefined)[];
  isOpenFirst: boolean;
}

function FileOfBoth({ path, names, files, isOpenFirst }: FileOfBothProps) {
  const [isOpen, setOpen] = useState(isOpenFirst && !files.some((file) => file?.isGenerated));
  return (
    <section className="grid min-w-0 grid-cols-[minmax(0,1fr)] rounded-lg border">
      <h3>
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="flex min-h-10 w-full min-w-0 items-center gap-2 px-3 text-left font-mono text-xs hover:bg-hover pointer-coarse:min-h-11"
        >
          <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} className="shrink-0 text-muted" />
          <span className="min-w-0 wrap-anywhere">{plainText(path)}</span>
        </button>
      </h3>
      {isOpen && (
        <div className="grid min-w-0 border-t max-sm:divide-y sm:grid-cols-2 sm:divide-x">
          {names.map((name, at) => (
            // The sides never change their places.
            // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a side is.
            <Side key={at} name={name} file={files[at]} />
          ))}
        </div>
      )}
    </section>
  );
}

const nothing = { byLine: new Map(), byFile: new Map(), elsewhere: [] };

function Side({ name, file }: { name: string; file: ReviewFile | undefined }) {
  const { colors, want } = useColors();
  useEffect(() => {
    if (file) want(file);
  }, [file, want]);
  const rows = useMemo(() => {
    if (file === undefined) return [];
    const input = { files: [file], isOpen: () => true, isSplit: false };
    return rowsOf({ ...input, placed: nothing, notes: new Map(), findings: nothing });
  }, [file]);
  return (
    <div className="review-list min-w-0 overflow-hidden">
      <p className="flex flex-wrap items-center justify-between gap-2 px-3 py-1.5 font-sans text-xs text-muted">
        {name}
        {file ? <LineCounts file={file} /> : <span>not changed</span>}
      </p>
      {rows.map((row) => {
        if (row.type === 'note') {
          return (
            <p key={row.key} className="px-3 py-2 font-sans text-xs text-muted">
              {row.text}
            </p>
          );
        }
        if (row.type === 'hunk') {
          return (
            <p key={row.key} className="review-title">
              {plainText(row.title)}
            </p>
          );
        }
        if (row.type !== 'lines') return null;
        return (
          <LineRow
            key={row.key}
            row={row}
            isSplit={false}
            isCurrent={false}
            selected={undefined}
            mayWriteBase={false}
            mayWriteResult={false}
            leftColors={row.left && colors(row.left)}
            rightColors={row.right && colors(row.right)}
            {...noActs}
          />
        );
      })}
    </div>
  );
}

/** Comments are written on the page of a variant. */
const noActs = { onPick: () => {}, onDragStart: () => {}, onDragOver: () => {} };

import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useState } from 'react';
import { jobsQuery } from '../api/job-queries.ts';
import { plainText } from '../format/text.ts';
import { FieldFrame, inputClasses } from '../parts/form/field.tsx';
import { Icon } from '../parts/page/icon.tsx';
import { StatusSign } from '../parts/status/status-badge.tsx';

const FOUND_MAX = 6;

interface JobPickerProps {
  workspaceId: string;
  value: readonly string[];
  error: string | undefined;
  onChange: (jobIds: readonly string[]) => void;
}

/** Chooses the jobs that must be done first, by words of their title or their ID. */
export function JobPicker({ workspaceId, value, error, onChange }: JobPickerProps) {
  const [text, setText] = useState('');
  const q = text.trim();
  const found = useQuery({
    ...jobsQuery(workspaceId, { q }, { statuses: undefined, limit: FOUND_MAX }),
    enabled: q !== '',
  });
  const shown =
    q === '' ? [] : (found.data?.jobs ?? []).filter((job) => !value.includes(job.jobId));
  const add = (jobId: string) => {
    onChange([...value, jobId]);
    setText('');
  };
  const addFirst = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    const [first] = shown;
    if (first) add(first.jobId);
  };
  return (
    <FieldFrame
      label="After"
      hint="Jobs that must be done first. Search by a word or the ID; Enter takes the first."
      error={error}
    >
      {(ids) => (
        <div className="grid gap-1.5">
          {value.length > 0 && (
            <ul className="grid gap-1">
              {value.map((jobId) => (
                <li
                  key={jobId}
                  className="flex min-w-0 items-center gap-2 rounded-md border bg-surface pl-2"
                >
                  <code className="min-w-0 grow truncate font-mono text-xs">{jobId}</code>
                  <button
                    type="button"
                    aria-label={`Do not wait for ${jobId}`}
                    onClick={() => onChange(value.filter((each) => each !== jobId))}
                    className="grid size-8 shrink-0 place-items-center rounded-md text-muted hover:bg-hover pointer-coarse:size-11"
                  >
                    <Icon name="x" className="size-3.5" />
                  </button>
                </li>
              ))}
            </ul>
          )}
          <input
            {...ids}
            type="text"
            name="dependsOn"
            value={text}
            autoComplete="off"
            onChange={(event) => setText(event.target.value)}
            onKeyDown={addFirst}
            className={inputClasses}
          />
          {shown.length > 0 && (
            <ul aria-label="Found jobs" className="overflow-hidden rounded-md border bg-raised">
              {shown.map((job) => (
                <li key={job.jobId}>
                  <button
                    type="button"
                    onClick={() => add(job.jobId)}
                    className="flex h-8 w-full items-center gap-2 px-2 text-left text-sm hover:bg-hover pointer-coarse:h-11"
                  >
                    <StatusSign status={job.status} changed={job.changed} verdict={job.verdict} />
                    <span className="truncate">{plainText(job.title) || job.jobId}</span>
                  </button>
                </li>
              ))}
            </ul>
          )}
          {q !== '' && found.isSuccess && !found.isPlaceholderData && shown.length === 0 && (
            <p className="text-xs text-muted">No job matches.</p>
          )}
        </div>
      )}
    </FieldFrame>
  );
}

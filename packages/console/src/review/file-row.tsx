import { useId } from 'react';
import { classNames } from '../class-names.ts';
import type { PatchFile } from '../format/patch.ts';
import { countWords } from '../format/review-words.ts';
import { plainText } from '../format/text.ts';
import { Icon } from '../parts/page/icon.tsx';
import type { ReviewFile } from './review-files.ts';

interface FileRowProps {
  file: ReviewFile;
  rowKey: string;
  isOpen: boolean;
  isViewed: boolean;
  isCurrent: boolean;
  threadCount: number;
  onOpen: (isOpen: boolean) => void;
  onViewed: (isViewed: boolean) => void;
}

const changeWords: Readonly<Record<PatchFile['change'], string | null>> = {
  added: 'new',
  deleted: 'deleted',
  renamed: 'renamed',
  changed: null,
};

/** The head of a file: its name, its counts, and whether it was viewed. */
export function FileRow(props: FileRowProps) {
  const { file, rowKey, isOpen, isViewed, isCurrent, threadCount, onOpen, onViewed } = props;
  const id = useId();
  const words = [changeWords[file.change], file.isGenerated && 'generated'].filter(Boolean);
  return (
    <div
      className={classNames(
        'flex min-h-10 flex-wrap items-center gap-x-3 border-y bg-canvas px-3 pointer-coarse:min-h-11',
        isCurrent && 'shadow-[inset_3px_0_0_var(--color-accent)]',
      )}
    >
      <h3 className="min-w-0 flex-1 basis-40">
        <button
          type="button"
          data-key={rowKey}
          aria-expanded={isOpen}
          onClick={() => onOpen(!isOpen)}
          className="flex min-h-10 w-full min-w-0 items-center gap-2 text-left font-mono text-xs -outline-offset-2 hover:bg-hover pointer-coarse:min-h-11"
        >
          <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} className="shrink-0 text-muted" />
          <span className="min-w-0 wrap-anywhere">
            {file.oldPath !== null && `${plainText(file.oldPath)} → `}
            {plainText(file.path)}
          </span>
          {words.length > 0 && (
            <span className="shrink-0 font-sans text-muted">{words.join(', ')}</span>
          )}
        </button>
      </h3>
      {threadCount > 0 && (
        <span className="font-sans text-xs text-muted">{countWords(threadCount, 'thread')}</span>
      )}
      <LineCounts file={file} />
      <label
        htmlFor={id}
        className="flex min-h-8 items-center gap-1.5 font-sans text-xs pointer-coarse:min-h-11"
      >
        <input
          id={id}
          type="checkbox"
          checked={isViewed}
          onChange={(event) => onViewed(event.target.checked)}
          className="size-4 accent-accent-fill"
        />
        Viewed<span className="sr-only"> {plainText(file.path)}</span>
      </label>
    </div>
  );
}

export function LineCounts({ file: { added, deleted } }: { file: ReviewFile }) {
  return (
    <span className="shrink-0 font-mono text-xs tabular-nums">
      <span className="text-done">
        +{added}
        <span className="sr-only"> lines added</span>
      </span>{' '}
      <span className="text-failed">
        −{deleted}
        <span className="sr-only"> lines deleted</span>
      </span>
    </span>
  );
}

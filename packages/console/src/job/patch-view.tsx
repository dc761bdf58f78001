import { useMemo, useState } from 'react';
import { classNames } from '../class-names.ts';
import { type PatchFile, type PatchLine, parsePatch } from '../format/patch.ts';
import { plainText } from '../format/text.ts';
import { Button } from '../parts/form/button.tsx';
import { keepReachable } from '../parts/page/scroll-box.tsx';

/** Files with more lines are folded at first; so are those after many lines. */
const FILE_LINES_OPEN = 300;
const LINES_OPEN = 1_200;
/** Lines of a file that one press shows. */
const LINES_STEP = 500;

/** A patch, file by file. All of it is text. */
export function PatchView({ patch }: { patch: string }) {
  const files = useMemo(() => parsePatch(patch), [patch]);
  let shownLines = 0;
  return (
    <ul className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3">
      {files.map((file, at) => {
        const lines = countLines(file);
        shownLines += lines;
        const isOpen = lines <= FILE_LINES_OPEN && shownLines <= LINES_OPEN;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a patch may name a file twice.
          <li key={at} className="min-w-0">
            <FileChanges file={file} isOpen={isOpen} />
          </li>
        );
      })}
    </ul>
  );
}

const countLines = ({ hunks }: PatchFile) =>
  hunks.reduce((sum, { lines }) => sum + lines.length, 0);

const changeWords: Readonly<Record<PatchFile['change'], string | null>> = {
  added: 'new',
  deleted: 'deleted',
  renamed: 'renamed',
  changed: null,
};

function FileChanges({ file, isOpen }: { file: PatchFile; isOpen: boolean }) {
  const [isShown, setShown] = useState(isOpen);
  const word = changeWords[file.change];
  return (
    <details
      open={isShown}
      onToggle={({ currentTarget }) => setShown(currentTarget.open)}
      className="min-w-0 overflow-hidden rounded-lg border bg-surface"
    >
      <summary className="flex min-h-9 cursor-pointer items-center gap-2 px-3 py-1.5 font-mono text-xs hover:bg-hover pointer-coarse:min-h-11">
        <span className="min-w-0 wrap-anywhere">
          {file.oldPath !== null && `${plainText(file.oldPath)} → `}
          {plainText(file.path)}
        </span>
        {word && <span className="shrink-0 font-sans text-muted">{word}</span>}
        <span className="ml-auto shrink-0 tabular-nums">
          <span className="text-done">
            +{file.added}
            <span className="sr-only"> lines added</span>
          </span>{' '}
          <span className="text-failed">
            −{file.deleted}
            <span className="sr-only"> lines deleted</span>
          </span>
        </span>
      </summary>
      {isShown && <Hunks file={file} />}
    </details>
  );
}

function Hunks({ file }: { file: PatchFile }) {
  const [shownCount, setShownCount] = useState(LINES_STEP);
  if (file.isBinary || file.hunks.length === 0) {
    return (
      <p className="border-t px-3 py-2 text-xs text-muted">
        {file.isBinary ? 'The file is not text.' : 'No line has changed.'}
      </p>
    );
  }
  const restCount = countLines(file) - shownCount;
  let left = shownCount;
  return (
    <div className="border-t">
      <div ref={keepReachable} className="patch">
        <div className="patch-lines">
          {file.hunks.map(({ title, lines }) => {
            const shown = lines.slice(0, Math.max(0, left));
            left -= lines.length;
            if (shown.length === 0) return null;
            return (
              <div key={title}>
                <p className="patch-title">{plainText(title)}</p>
                {shown.map((line) => (
                  <Line key={`${line.before}-${line.after}`} line={line} />
                ))}
              </div>
            );
          })}
        </div>
      </div>
      {restCount > 0 && (
        <div className="border-t p-2">
          <Button onClick={() => setShownCount(shownCount + LINES_STEP)}>
            Show {Math.min(restCount, LINES_STEP)} more of {restCount.toLocaleString('en')} lines
          </Button>
        </div>
      )}
    </div>
  );
}

const signs: Readonly<Record<PatchLine['kind'], string>> = { same: ' ', added: '+', deleted: '−' };
const signNames: Readonly<Record<PatchLine['kind'], string>> = {
  same: '',
  added: 'added: ',
  deleted: 'deleted: ',
};

function Line({ line: { kind, before, after, text } }: { line: PatchLine }) {
  return (
    <div className={classNames('patch-line', kind !== 'same' && `patch-${kind}`)}>
      <span className="patch-number">{before}</span>
      <span className="patch-number">{after}</span>
      <span aria-hidden="true" className="patch-sign">
        {signs[kind]}
      </span>
      <span className="sr-only">{signNames[kind]}</span>
      <span>{plainText(text) || '\n'}</span>
    </div>
  );
}

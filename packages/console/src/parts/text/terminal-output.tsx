import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import { type AnsiLine, parseAnsi } from '../../format/ansi.ts';
import { Button } from '../form/button.tsx';
import { AnsiText } from './ansi-line.tsx';

/** Number of lines shown initially, and added by each "Show earlier lines". */
const LINES_STEP = 2_000;
/** Number of lines per layout chunk, so that invisible lines need no layout. */
const CHUNK_LINES = 100;
/** Distance from the end that still counts as the end. */
const END_PX = 24;

interface TerminalOutputProps {
  /** Label of the block for screen readers, for instance `Output of attempt 1`. */
  label: string;
  text: string;
  /** Number of characters cut off before `text`. */
  skippedChars?: number;
  /** More output may arrive: the block follows it until the person scrolls up. */
  live: boolean;
}

/** Output of a tool. Any content becomes text nodes in spans only. */
export function TerminalOutput({ label, text, skippedChars = 0, live }: TerminalOutputProps) {
  const lines = useMemo(() => parseAnsi(text), [text]);
  const [shownCount, setShownCount] = useState(LINES_STEP);
  const { boxRef, follow, setFollow, onScroll } = useFollow(live, lines);
  const hiddenCount = Math.max(0, lines.length - shownCount);
  return (
    <div className="min-w-0 overflow-hidden rounded-lg border bg-well">
      <div className="flex min-h-9 items-center justify-between gap-2 border-b px-3 text-xs text-muted">
        <span>
          {lines.length} {lines.length === 1 ? 'line' : 'lines'}
        </span>
        {live && (
          <label className="flex items-center gap-1.5 py-2">
            <input
              type="checkbox"
              checked={follow}
              onChange={(event) => setFollow(event.target.checked)}
              className="size-4 accent-accent-fill"
            />
            Follow
          </label>
        )}
      </div>
      <div
        ref={boxRef}
        role="log"
        aria-label={label}
        aria-live="off"
        // A scrollable region must be reachable by keyboard.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG 2.1.1, scrolling by keyboard.
        tabIndex={0}
        onScroll={onScroll}
        className="terminal max-h-[34rem] overflow-auto px-3 py-2 outline-offset-[-2px]"
      >
        {skippedChars > 0 && (
          <p className="mb-2 text-faint">
            {skippedChars.toLocaleString('en')} earlier characters are not shown.
          </p>
        )}
        {hiddenCount > 0 && (
          <Button className="mb-2" onClick={() => setShownCount(shownCount + LINES_STEP)}>
            Show {Math.min(hiddenCount, LINES_STEP).toLocaleString('en')} earlier lines
          </Button>
        )}
        <Lines lines={lines} from={hiddenCount} />
      </div>
    </div>
  );
}

function useFollow(live: boolean, lines: readonly AnsiLine[]) {
  const boxRef = useRef<HTMLDivElement>(null);
  const lastTop = useRef(0);
  const [follow, setFollow] = useState(live);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines trigger the scrolling.
  useLayoutEffect(() => {
    if (follow && live && boxRef.current) boxRef.current.scrollTop = boxRef.current.scrollHeight;
  }, [lines, follow, live]);

  const onScroll = () => {
    const box = boxRef.current;
    if (!box) return;
    const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < END_PX;
    // Only scrolling up is an action of the person; growing output also moves the end away.
    if (atEnd) setFollow(true);
    else if (box.scrollTop < lastTop.current) setFollow(false);
    lastTop.current = box.scrollTop;
  };
  return { boxRef, follow, setFollow, onScroll };
}

function Lines({ lines, from }: { lines: readonly AnsiLine[]; from: number }) {
  const chunks: { number: number; lines: AnsiLine[] }[] = [];
  // Chunks have fixed boundaries, so that showing earlier lines leaves later chunks unchanged.
  for (let number = Math.floor(from / CHUNK_LINES); number * CHUNK_LINES < lines.length; number++) {
    const start = Math.max(from, number * CHUNK_LINES);
    chunks.push({ number, lines: lines.slice(start, (number + 1) * CHUNK_LINES) });
  }
  return chunks.map((chunk) => (
    // Always lay out the last chunk: following needs the exact height of the end.
    <div key={chunk.number} className={chunk === chunks.at(-1) ? undefined : 'terminal-chunk'}>
      {chunk.lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines are only appended.
        <div key={index}>
          <AnsiText line={line} />
        </div>
      ))}
    </div>
  ));
}

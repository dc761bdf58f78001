import { type AnsiLine, parseAnsiLine } from '../format/ansi.ts';
import { plainStyle } from '../format/ansi-style.ts';
import { AnsiText } from '../parts/text/ansi-line.tsx';

/** A few lines of a log, as a terminal shows them. */
export function LogLines({ lines }: { lines: readonly { line: number; text: string }[] }) {
  const styled = styleLines(lines.map(({ text }) => text));
  return (
    <div className="terminal overflow-hidden rounded-md border bg-well px-3 py-2">
      {lines.map(({ line }, at) => (
        <div key={line}>
          <AnsiText line={styled[at] ?? []} />
        </div>
      ))}
    </div>
  );
}

/** Colors continue from line to line. */
function styleLines(texts: readonly string[]): AnsiLine[] {
  let style = plainStyle;
  return texts.map((text) => {
    const parsed = parseAnsiLine(text, style);
    style = parsed.style;
    return parsed.line;
  });
}

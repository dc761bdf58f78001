import { AnsiText } from '../parts/text/ansi-line.tsx';
import { styleTexts } from './styled-lines.ts';

/** A few lines of a log, as a terminal shows them. */
export function LogLines({ lines }: { lines: readonly { line: number; text: string }[] }) {
  const styled = styleTexts(lines.map(({ text }) => text));
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

import { type CSSProperties, memo } from 'react';
import { classNames } from '../../class-names.ts';
import type { AnsiLine, AnsiSpan } from '../../format/ansi.ts';
import type { AnsiColor } from '../../format/ansi-style.ts';
import { markFound } from '../../format/found-text.ts';
import { LinkedText } from './linked-text.tsx';

interface AnsiTextProps {
  line: AnsiLine;
  /** Text to mark; empty: none. */
  searched?: string;
}

/** The styled text of one line of output. */
export const AnsiText = memo(function AnsiText({ line, searched = '' }: AnsiTextProps) {
  if (line.length === 0) return '\n';
  return markFound(line, searched).map((span, index) =>
    span.isFound ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the position is the identity.
      <mark key={index} className="found-text">
        <Span span={span} />
      </mark>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the position is the identity.
      <Span key={index} span={span} />
    ),
  );
});

function Span({ span }: { span: AnsiSpan }) {
  const { style, text } = span;
  const className = classNames(
    style.fg !== null && (typeof style.fg === 'number' ? 'ansi-fg' : 'ansi-fg-own'),
    style.bg !== null && 'ansi-bg',
    style.inverse && 'ansi-inverse',
    style.bold && 'ansi-bold',
    style.dim && 'ansi-dim',
    style.italic && 'ansi-italic',
    style.underline && 'ansi-underline',
    style.strike && 'ansi-strike',
  );
  if (className === '') return <LinkedText text={text} />;
  return (
    <span className={className} style={colorsOf(style.fg, style.bg)}>
      <LinkedText text={text} />
    </span>
  );
}

/** React sets these through the DOM, which the content security policy allows. */
function colorsOf(fg: AnsiColor | null, bg: AnsiColor | null): CSSProperties | undefined {
  if (fg === null && bg === null) return undefined;
  return {
    ...(fg !== null && { '--fg': cssColor(fg) }),
    ...(bg !== null && { '--bg': cssColor(bg) }),
  } as CSSProperties; // The type has no custom properties.
}

function cssColor(color: AnsiColor): string {
  return typeof color === 'number' ? `var(--ansi-${color})` : color;
}

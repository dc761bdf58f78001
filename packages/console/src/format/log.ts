/** A range of lines, as the fragment of a URL names it: `#L12` or `#L12-L20`. */
export interface LineRange {
  first: number;
  last: number;
}

const fragment = /^#?L([1-9]\d{0,14})(?:-L?([1-9]\d{0,14}))?$/;

/** Reads the fragment of a URL; undefined if it names no lines. */
export function parseLineRange(hash: string): LineRange | undefined {
  const [, from, to] = fragment.exec(hash) ?? [];
  if (from === undefined) return undefined;
  const ends = [Number(from), Number(to ?? from)] as const;
  return { first: Math.min(...ends), last: Math.max(...ends) };
}

export function formatLineRange({ first, last }: LineRange): string {
  return first === last ? `L${first}` : `L${first}-L${last}`;
}

/** Words that programs print where they fail. */
const failureWords =
  /\b(?:error|fail(?:ed|ure|ing)?|fatal|panic|exception|traceback)\b|✗|✖|not ok/i;
/** A shorter line of a message, such as `}`, is found anywhere. */
const TELLING_CHARS_MIN = 8;

/**
 * The line at which a failed attempt's log should open: the last one that its message quotes, else
 * the last one that reads like a failure, else the last one.
 */
export function findFailureLine(
  lines: readonly { line: number; text: string }[],
  message: string | null,
): number | undefined {
  const quoted = (message ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length >= TELLING_CHARS_MIN);
  const found =
    lines.findLast(({ text }) => quoted.some((part) => text.includes(part))) ??
    lines.findLast(({ text }) => failureWords.test(text)) ??
    lines.at(-1);
  return found?.line;
}

const groupStart = '::group::';
const groupEnd = '::endgroup::';

/** A titled range of lines, between `::group::Title` and `::endgroup::`. */
export interface LogGroup {
  /** The line with the title. */
  first: number;
  /** The line with the end; the end of the log for an open group. */
  last: number;
}

/** Makes groups from the lines that begin or end one, in order. Groups do not nest. */
export function groupsOf(marks: readonly { line: number; text: string }[]): LogGroup[] {
  const groups: LogGroup[] = [];
  let first: number | undefined;
  for (const { line, text } of marks) {
    const isStart = text.startsWith(groupStart);
    if (!isStart && !text.startsWith(groupEnd)) continue;
    if (first !== undefined) groups.push({ first, last: isStart ? line - 1 : line });
    first = isStart ? line : undefined;
  }
  return groups;
}

/** The text to show: of a line that begins a group its title, of one that ends a group nothing. */
export function shownTextOf(text: string): string {
  if (text.startsWith(groupEnd)) return '';
  return text.startsWith(groupStart) ? text.slice(groupStart.length) : text;
}

/** How many lines of a range are hidden by folded groups: all but their first lines. */
export function countHidden(folded: readonly LogGroup[], range: LineRange): number {
  return folded.reduce((sum, group) => {
    const first = Math.max(group.first + 1, range.first);
    const last = Math.min(group.last, range.last);
    return sum + Math.max(0, last - first + 1);
  }, 0);
}

/** Whether a folded group hides a line. */
export function isHidden(folded: readonly LogGroup[], line: number): boolean {
  return folded.some(({ first, last }) => line > first && line <= last);
}

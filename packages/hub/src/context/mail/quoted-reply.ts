/** Begins our mails that a reply answers: what is above it is the answer. */
export const REPLY_MARK = 'Reply above this line';

const originalWords = [
  'original message',
  'original appointment',
  'ursprüngliche nachricht',
  "message d['’]origine",
  'mensaje original',
  'mensagem original',
  'messaggio originale',
  'oorspronkelijk bericht',
  '原始邮件',
  '原始郵件',
  '元のメッセージ',
];
/** Mail programs that quote without marks put such a line, in their language, before the quote. */
const originalLine = new RegExp(
  `^\\s*[-_]{2,}\\s*(?:${originalWords.join('|')})\\s*[-_]{2,}\\s*$`,
  'iu',
);
const fromLine = /^\s*\*?(?:from|von|de|da|van|发件人|寄件者|差出人)\*?\s?[:：]\s?\S/iu;
const sentLine =
  /^\s*\*?(?:sent|date|gesendet|datum|envoyé|enviado(?: el)?|fecha|inviato|verzonden|发送时间|日期|送信日時|日時)\*?\s?[:：]\s?\S/iu;
/** "On Tue, 3 Nov 2026, Ada wrote:" in many languages. It may wrap over a few lines. */
const attributionEnd =
  /(?:wrote|writes|schrieb|geschrieben|a écrit|escribió|escreveu|ha scritto|schreef|写道|寫道|書きました|のメール|のメッセージ)[^\n]{0,200}[:：]\s*$/iu;
const quotedLine = /^\s*>/;
const signatureLine = /^-- ?$/;
/** Some mail programs draw a line above what they quote. */
const drawnLine = /^\s*[_-]{8,}\s*$/;
/** Phones add such a line below what a person writes. */
const deviceLine =
  /^\s*(?:sent from (?:my|outlook)|get outlook for|von meinem .{1,40} gesendet|envoyé de mon)\b.*$/iu;
/** Within how many lines of "From:" the header block of a quoted message has "Sent:". */
const HEADER_BLOCK_LINES = 4;
const ATTRIBUTION_LINES_MAX = 3;
const SIGNATURE_LINES_MAX = 20;

/**
 * Returns the author's own text of a reply, without the messages quoted below it and without the
 * signature. Quotes with answers between them stay, since the answers need them. A text that would
 * become empty is returned whole.
 */
export function trimQuotedReply(text: string): string {
  let lines = text.replace(/\r\n?/g, '\n').split('\n');
  lines = lines.slice(0, findUnmarkedQuote(lines));
  lines = trimTrailingQuote(lines);
  lines = trimSignature(lines);
  const trimmed = lines.join('\n').trim();
  return trimmed === '' ? text.trim() : trimmed;
}

/**
 * Returns what the author of a reply wrote above the message that it answers, without the
 * signature; empty if that is nothing.
 *
 * @param mark begins a line of ours, above all else in the message that is answered.
 */
export function textAboveQuote(text: string, mark: string): string {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const isQuote = (line: string) => quotedLine.test(line) || line.trimStart().startsWith(mark);
  const quoteAt = lines.findIndex(isQuote);
  const at = Math.min(findUnmarkedQuote(lines), quoteAt === -1 ? lines.length : quoteAt);
  const above = lines.slice(0, at === lines.length ? at : trimAttribution(lines, at));
  while (above.length > 0 && isAddedLine(above.at(-1))) above.pop();
  // With a line before it, a signature is found that is all there is.
  return trimSignature(['', ...above])
    .join('\n')
    .trim();
}

function isAddedLine(line = ''): boolean {
  return isBlank(line) || drawnLine.test(line) || deviceLine.test(line);
}

/** Finds where a message that is quoted without marks begins; the end without such a message. */
function findUnmarkedQuote(lines: readonly string[]): number {
  const at = lines.findIndex((line, index) => {
    if (originalLine.test(line)) return true;
    if (!fromLine.test(line)) return false;
    return lines
      .slice(index + 1, index + 1 + HEADER_BLOCK_LINES)
      .some((near) => sentLine.test(near));
  });
  return at === -1 ? lines.length : at;
}

function trimTrailingQuote(lines: readonly string[]): string[] {
  let end = trimBlank(lines, lines.length);
  let begin = end;
  while (begin > 0 && (quotedLine.test(lines[begin - 1] ?? '') || isBlank(lines[begin - 1]))) {
    begin -= 1;
  }
  if (begin < end && lines.slice(begin, end).some((line) => quotedLine.test(line))) {
    end = trimAttribution(lines, begin);
  }
  return lines.slice(0, end);
}

/** Cuts the attribution above a quote ("… wrote:") as well. */
function trimAttribution(lines: readonly string[], begin: number): number {
  const end = trimBlank(lines, begin);
  for (let count = 1; count <= ATTRIBUTION_LINES_MAX && count <= end; count++) {
    const attribution = lines.slice(end - count, end).join(' ');
    if (isBlank(lines[end - count])) break;
    if (attributionEnd.test(attribution)) return trimBlank(lines, end - wrappedLines(lines, end));
  }
  return end;
}

/** Counts the lines of a wrapped attribution, back to the line that begins it. */
function wrappedLines(lines: readonly string[], end: number): number {
  let count = 1;
  while (count < ATTRIBUTION_LINES_MAX && count < end && !isBlank(lines[end - count - 1])) {
    if (/^(?:on|am|le|el|em|il|op|den)\b|\d{4}/iu.test(lines[end - count] ?? '')) break;
    count += 1;
  }
  return count;
}

function trimSignature(lines: readonly string[]): string[] {
  const at = lines.findLastIndex((line) => signatureLine.test(line));
  return at > 0 && lines.length - at <= SIGNATURE_LINES_MAX ? lines.slice(0, at) : [...lines];
}

function trimBlank(lines: readonly string[], end: number): number {
  let at = end;
  while (at > 0 && isBlank(lines[at - 1])) at -= 1;
  return at;
}

function isBlank(line: string | undefined): boolean {
  return line === undefined || line.trim() === '';
}

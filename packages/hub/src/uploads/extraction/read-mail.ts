import PostalMime, { type Address, type Email } from 'postal-mime';
import { ExtractError, type ReadText } from './extract-outcome.ts';
import { readHtml } from './read-html.ts';

/** More than real mail nests, even with forwarded mail inside forwarded mail. */
const NESTING_MAX = 30;
const FORWARDED_MAX = 10;
const HEADERS_BYTES_MAX = 256 * 1024;
/** A line that starts like a header. */
const HEADER_LINE = /^[!-9;-~]+:[ \t]?\S/m;
const HEADER_WITHIN_BYTES = 4_096;

/** @throws ExtractError wrong_content_type, too_deep. */
export async function readMail(bytes: Buffer): Promise<ReadText> {
  if (!HEADER_LINE.test(bytes.toString('latin1', 0, HEADER_WITHIN_BYTES))) {
    throw new ExtractError('wrong_content_type');
  }
  const mail = await parseMail(bytes);
  const body = mail.text?.trim() ? { text: mail.text, truncated: false } : null;
  const { text, truncated } = body ?? readHtml(mail.html ?? '');
  return { text: `${describeMail(mail)}\n\n${text}`, truncated };
}

async function parseMail(bytes: Buffer): Promise<Email> {
  try {
    return await PostalMime.parse(new Uint8Array(bytes), {
      maxNestingDepth: NESTING_MAX,
      maxRfc822NestingDepth: FORWARDED_MAX,
      maxHeadersSize: HEADERS_BYTES_MAX,
    });
  } catch (cause) {
    throw new ExtractError(/nesting/i.test(String(cause)) ? 'too_deep' : 'malformed');
  }
}

/** Renders the headers that a mail program shows, and the names of attachments. */
function describeMail(mail: Email): string {
  const lines: [label: string, value: string | undefined][] = [
    ['From', namesOf(mail.from === undefined ? [] : [mail.from])],
    ['To', namesOf(mail.to ?? [])],
    ['Cc', namesOf(mail.cc ?? [])],
    ['Date', mail.date],
    ['Subject', mail.subject],
    ['Attachments', mail.attachments.map(({ filename }) => filename ?? 'unnamed').join(', ')],
  ];
  return lines
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([label, value]) => `${label}: ${value}`)
    .join('\n');
}

function namesOf(addresses: readonly Address[]): string {
  return addresses
    .flatMap((address) => (address.group === undefined ? [address] : address.group))
    .map(({ name, address }) => (name === '' ? (address ?? '') : `${name} <${address ?? ''}>`))
    .join(', ');
}

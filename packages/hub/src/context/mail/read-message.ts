import { convert } from 'html-to-text';
import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { cutText } from '../data-policy.ts';
import { redactSecrets } from '../redaction.ts';
import { stripHidden } from '../untrusted-text.ts';
import { parseMessageId } from './message-id.ts';
import { trimQuotedReply } from './quoted-reply.ts';

/** The part of html-to-text that is used; the package has no types. */
type HtmlToText = (html: string, options: object) => string;

/** The parts of a message that a rendered thread shows. */
export interface MailMessage {
  /** Without angle brackets. Null when the message has none. */
  messageId: string | null;
  from: string;
  /** RFC 3339. Null when the header is missing or invalid. */
  sentAt: string | null;
  subject: string;
  /** Names and types of attachments. Their content is not read. */
  attachments: string[];
  text: string;
}

/** How the messages of a workspace are read. */
export interface MailReading {
  /** Whether secrets are redacted, as the data policy of the workspace says. */
  redacts: boolean;
}

/** Deeper nesting is an attack or a mistake. */
const PARTS_NESTED_MAX = 20;
const HEADERS_BYTES_MAX = 256 * 1_024;
/** A forwarded message is shown. A message forwarded inside it is only named. */
const MESSAGES_NESTED_MAX = 1;
const HTML_CHARS_MAX = 1_000_000;
const HTML_DEPTH_MAX = 100;
const HTML_CHILDREN_MAX = 5_000;
const TEXT_CHARS_MAX = 100_000;
const HEADER_CHARS_MAX = 500;
const ATTACHMENTS_NAMED_MAX = 30;

const htmlOptions = {
  wordwrap: false,
  limits: {
    maxDepth: HTML_DEPTH_MAX,
    maxChildNodes: HTML_CHILDREN_MAX,
    ellipsis: '…',
  },
  selectors: [
    { selector: 'img', format: 'skip' },
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
  ],
};

/**
 * Parses a message of at most about a megabyte, which may be cut off at its end. The message may be
 * hostile and parsing has no time limit, so call this in a thread that can be terminated.
 *
 * @throws when the message is nested too deeply or has too many headers.
 */
export async function readMailMessage(
  source: Uint8Array,
  { redacts }: MailReading,
): Promise<MailMessage> {
  const redact = redacts ? redactSecrets : (text: string) => text;
  const email = await parseMail(source, MESSAGES_NESTED_MAX);
  const isReply = email.inReplyTo !== undefined || email.references !== undefined;
  const body = textOf(email);
  return {
    messageId: parseMessageId(email.messageId),
    from: redact(nameOf(email.from)),
    sentAt: timeOf(email.date),
    subject: redact(headerOf(email.subject ?? '')),
    attachments: email.attachments
      .filter((attachment) => attachment.related !== true)
      .slice(0, ATTACHMENTS_NAMED_MAX)
      .map((attachment) => redact(describeAttachment(attachment))),
    // Redacted before the cut, so that the text does not end inside a secret.
    text: cutText(redact(isReply ? trimQuotedReply(body) : body.trim()), TEXT_CHARS_MAX),
  };
}

/** @throws when the message is nested too deeply or has too many headers. */
export function parseMail(source: Uint8Array, messagesNestedMax: number): Promise<Email> {
  return PostalMime.parse(source, {
    maxNestingDepth: PARTS_NESTED_MAX,
    maxHeadersSize: HEADERS_BYTES_MAX,
    maxRfc822NestingDepth: messagesNestedMax,
  });
}

/** The text of a message; that of its HTML, if it has no other. */
export function textOf({ text, html }: Pick<Email, 'text' | 'html'>): string {
  if (text !== undefined && text.trim() !== '') return stripHidden(text);
  if (html === undefined) return '';
  // Cut here, because the library reports its own limit on standard error.
  return stripHidden((convert as HtmlToText)(cutText(html, HTML_CHARS_MAX), htmlOptions));
}

function nameOf(address: Address | undefined): string {
  if (address === undefined) return 'unknown';
  const { name, address: mailbox } = address;
  if (mailbox === undefined || mailbox === '') return headerOf(name) || 'unknown';
  return headerOf(name === '' ? mailbox : `${name} <${mailbox}>`);
}

function timeOf(date: string | undefined): string | null {
  const timeMs = Date.parse(date ?? '');
  return Number.isNaN(timeMs) ? null : new Date(timeMs).toISOString();
}

function describeAttachment({ filename, mimeType }: Attachment): string {
  const name = headerOf(filename ?? '');
  return name === '' ? headerOf(mimeType) : `${name} (${headerOf(mimeType)})`;
}

/** Puts a header's value on one line and limits its length. */
function headerOf(value: string): string {
  return cutText(stripHidden(value).replace(/\s+/g, ' ').trim(), HEADER_CHARS_MAX);
}

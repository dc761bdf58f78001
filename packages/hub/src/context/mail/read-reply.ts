import { addressParser, type Header } from 'postal-mime';
import { textAboveQuote } from './quoted-reply.ts';
import { parseMail, textOf } from './read-message.ts';

export type MailHeader = Pick<Header, 'key' | 'value'>;

/** A mail that may answer one of ours. */
export interface ReplyMail {
  /** In the order of the mail, the last added first. Names are in lower case. */
  headers: readonly MailHeader[];
  /** The addresses of all From headers. */
  from: readonly string[];
  /** Above what it quotes. */
  text: string;
}

/**
 * Parses a reply. It may be hostile and parsing has no time limit, so call this in a thread that
 * can be terminated.
 *
 * @param mark as in `textAboveQuote`.
 * @throws as `parseMail` does.
 */
export async function readReplyMail(source: Uint8Array, mark: string): Promise<ReplyMail> {
  // A message that is forwarded as a whole is an attachment.
  const email = await parseMail(source, 0);
  const headers = email.headers.map(({ key, value }) => ({ key, value }));
  const from = headers
    .filter(({ key }) => key === 'from')
    .flatMap(({ value }) => addressParser(value, { flatten: true }))
    .map(({ address }) => address ?? '');
  return { headers, from, text: textAboveQuote(textOf(email), mark) };
}

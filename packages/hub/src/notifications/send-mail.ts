import type { NodemailerError, Transporter } from 'nodemailer';
import { REPLY_MARK } from '../context/mail/quoted-reply.ts';
import type { SmtpServer } from '../start/setting-values.ts';
import type { Choice } from './choices.ts';
import { type Message, quote } from './content.ts';
import type { Delivery } from './deliver.ts';

/** Mail servers greet late on purpose, so they get more time than other receivers. */
const TOTAL_MS = 30_000;
/** Of the words of a server. */
const QUOTED_CHARS_MAX = 240;
/** Of an answer in a list. */
const LABEL_CHARS_MAX = 200;

export interface MailedMessage extends Message {
  /** The answers that the mail lists; null: a reply does not count. */
  choices: readonly Choice[] | null;
}

/**
 * Makes one attempt to mail a message to a person. It throws nothing.
 *
 * @param to the address of the person's account.
 */
export function sendMail(
  smtp: SmtpServer,
  to: string,
  message: MailedMessage,
  stop: AbortSignal,
): Promise<Delivery> {
  return deliver(smtp, mailOf(smtp, to, message), stop);
}

/** Why a reply does not answer a question. */
export interface Refusal {
  /** Of the reply, with its angle brackets; empty: it has none. */
  messageId: string;
  /** The notification that it answers. */
  notificationId: string;
  /** In sentences. */
  text: string;
  /** The page at the console. */
  url: string;
}

/** Makes one attempt to mail to a person why their reply does not answer. It throws nothing. */
export function sendRefusal(
  smtp: SmtpServer,
  to: string,
  { messageId, notificationId, text, url }: Refusal,
  stop: AbortSignal,
): Promise<Delivery> {
  const refused = `<${notificationId}@${domainOf(smtp)}>`;
  const mail = {
    ...addressesOf(smtp, to),
    subject: 'Your reply has not answered the question',
    headers: { 'Auto-Submitted': 'auto-replied' },
    ...(messageId === '' ? {} : { inReplyTo: messageId, references: [refused, messageId] }),
    text: `Your reply has not answered the question. ${withoutLinks(text)}\n\nOpen it: ${url}`,
  };
  return deliver(smtp, mail, stop);
}

async function deliver(smtp: SmtpServer, mail: object, stop: AbortSignal): Promise<Delivery> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(TOTAL_MS)]);
  const transport = await createSmtpTransport(smtp, TOTAL_MS);
  try {
    await transport.sendMail({ ...mail, signal });
    return { kind: 'delivered' };
  } catch (error) {
    return judge(error as NodemailerError);
  } finally {
    transport.close();
  }
}

/** The way to a mail server. Loaded on first use: most hubs send no mail. */
export async function createSmtpTransport(
  { host, port, tls, auth }: SmtpServer,
  waitMs: number,
): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    host,
    port,
    secure: tls === 'tls',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(auth !== null && { auth }),
    connectionTimeout: waitMs,
    greetingTimeout: waitMs,
    socketTimeout: waitMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

function domainOf({ from }: SmtpServer): string {
  return from.slice(from.indexOf('@') + 1);
}

function addressesOf({ from }: SmtpServer, to: string) {
  return { from: { name: 'Signalbox', address: from }, to: { name: '', address: to } };
}

const WHY = 'You added this address for notifications.';
const BY_PAGE = 'Nothing in this mail answers a question: that is done on the page, signed in.';
const BY_REPLY = 'No link in this mail answers the question: a reply does, or the page, signed in.';
const CHOOSE =
  'A reply answers the question: with a number or an answer of the list as its first line, or in ' +
  'words of your own.';
const WRITE = 'A reply answers the question, in your words.';

function mailOf(smtp: SmtpServer, to: string, message: MailedMessage) {
  const { id, title, url, settingsUrl, atMs, choices } = message;
  const body = withoutLinks(message.text);
  const mark = choices === null ? [] : [`${REPLY_MARK}.`];
  const answers = choices === null ? [] : sayAnswers(choices);
  const why = `${WHY} ${choices === null ? BY_PAGE : BY_REPLY}`;
  const end = `${why}\nChange it: ${settingsUrl}`;
  const paragraphs = (texts: readonly string[]) =>
    texts.map((text) => `<p>${escapeHtml(text).replaceAll('\n', '<br>')}</p>\n`).join('');
  return {
    ...addressesOf(smtp, to),
    subject: title,
    // The same for each attempt: a mail that comes twice is one.
    messageId: `<${id}@${domainOf(smtp)}>`,
    date: new Date(atMs),
    headers: { 'Auto-Submitted': 'auto-generated', 'List-Unsubscribe': `<${settingsUrl}>` },
    text: [...mark, title, body, ...answers, `Open it: ${url}`, end].join('\n\n'),
    html: `<!doctype html><html lang="en"><body>
${paragraphs(mark)}<p><strong>${escapeHtml(title)}</strong></p>
${paragraphs([body, ...answers])}<p><a href="${escapeHtml(url)}">Open it</a></p>
<p><small>${why} <a href="${escapeHtml(settingsUrl)}">Change it</a></small></p>
</body></html>`,
  };
}

/** The answers to choose from, and how a reply gives one. */
function sayAnswers(choices: readonly Choice[]): string[] {
  if (choices.length === 0) return [WRITE];
  const lines = choices.map(({ label, isRecommended }, at) => {
    const mark = isRecommended ? ' (recommended)' : '';
    return `${at + 1}. ${withoutLinks(quote(label, LABEL_CHARS_MAX))}${mark}`;
  });
  return [lines.join('\n'), CHOOSE];
}

/**
 * Mail programs make links of names such as `evil.example` and of addresses. A character without
 * width after the dot keeps them from it, and file names stay readable.
 */
function withoutLinks(text: string): string {
  return text.replaceAll(/[.@](?=[\p{L}\p{N}])/gu, '$&\u200c');
}

const htmlEntities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => htmlEntities[char] ?? char);
}

/** Replies about the sender, the connection or rules of a server, not about the recipient. */
const OF_THE_SENDER = /^5(?:30|\d\d[ -]5\.7\.)/;

function judge(error: NodemailerError): Delivery {
  const { code, command, responseCode = 0, response = '' } = error;
  const words = quote(response, QUOTED_CHARS_MAX);
  if (code === 'EAUTH') {
    const failure = `The mail server refuses the hub: ${words}. Its operator corrects SVC_SMTP_URL.`;
    return { kind: 'again', failure, afterMs: 0 };
  }
  if (code === 'ETLS') {
    const failure = `No encrypted connection to the mail server: ${quote(error.message, QUOTED_CHARS_MAX)}.`;
    return { kind: 'again', failure, afterMs: 0 };
  }
  if (responseCode >= 500 && command === 'RCPT TO' && !OF_THE_SENDER.test(response)) {
    return { kind: 'gone', failure: `The mail server refuses your address: ${words}.` };
  }
  if (responseCode >= 500 && command === 'DATA') {
    return { kind: 'refused', failure: `The mail server refuses the message: ${words}.` };
  }
  const failure =
    response === ''
      ? `No connection to the mail server: ${reasonOf(error)}.`
      : `The mail server answered ${words}.`;
  return { kind: 'again', failure, afterMs: 0 };
}

function reasonOf({ code, originalCode, name }: NodemailerError): string {
  if (code === 'EABORT' || code === 'ETIMEDOUT') return 'it took longer than 30 s';
  return String(originalCode ?? code ?? name);
}

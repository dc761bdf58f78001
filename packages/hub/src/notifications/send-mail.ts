import type { NodemailerError, Transporter } from 'nodemailer';
import type { SmtpServer } from '../start/setting-values.ts';
import { type Message, quote } from './content.ts';
import type { Delivery } from './deliver.ts';

/** Mail servers greet late on purpose, so they get more time than other receivers. */
const TOTAL_MS = 30_000;
/** Of the words of a server. */
const QUOTED_CHARS_MAX = 240;

/**
 * Makes one attempt to mail a message to a person. It throws nothing.
 *
 * @param to the address of the person's account.
 */
export async function sendMail(
  smtp: SmtpServer,
  to: string,
  message: Message,
  stop: AbortSignal,
): Promise<Delivery> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(TOTAL_MS)]);
  const transport = await createSmtpTransport(smtp, TOTAL_MS);
  try {
    await transport.sendMail({ ...mailOf(smtp, to, message), signal });
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
    ...{ host, port, secure: tls === 'tls' },
    ...{ requireTLS: tls === 'starttls', ignoreTLS: tls === 'none' },
    ...(auth !== null && { auth }),
    ...{ connectionTimeout: waitMs, greetingTimeout: waitMs, socketTimeout: waitMs },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
}

function mailOf({ from }: SmtpServer, to: string, message: Message) {
  const { id, title, url, settingsUrl, atMs } = message;
  const body = withoutLinks(message.text);
  const why = 'You added this address for notifications. Nothing in this mail answers a question:';
  const how = 'that is done on the page, signed in.';
  return {
    from: { name: 'Signalbox', address: from },
    to: { name: '', address: to },
    subject: title,
    // The same for each attempt: a mail that comes twice is one.
    messageId: `<${id}@${from.slice(from.indexOf('@') + 1)}>`,
    date: new Date(atMs),
    headers: { 'Auto-Submitted': 'auto-generated', 'List-Unsubscribe': `<${settingsUrl}>` },
    text: [title, body, `Open it: ${url}`, `${why} ${how}\nChange it: ${settingsUrl}`].join('\n\n'),
    html: `<!doctype html><html lang="en"><body>
<p><strong>${escapeHtml(title)}</strong></p>
<p>${escapeHtml(body)}</p>
<p><a href="${escapeHtml(url)}">Open it</a></p>
<p><small>${why} ${how} <a href="${escapeHtml(settingsUrl)}">Change it</a></small></p>
</body></html>`,
  };
}

/**
 * Mail programs make links of names such as `evil.example` and of addresses. A character without
 * width after the dot keeps them from it, and file names stay readable.
 */
function withoutLinks(text: string): string {
  return text.replaceAll(/[.@](?=[\p{L}\p{N}])/gu, '$&\u200c');
}

const htmlEntities: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' },
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

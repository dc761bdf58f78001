import type { ReplyMail } from '../context/mail/read-reply.ts';
import { foldEmail } from '../people/store.ts';
import { findDoubt } from './authentication-results.ts';

/** A mail whose sender is proved, and the notification that it answers. */
export interface ProvedReply {
  notificationId: string;
  /** As accounts have it. */
  sender: string;
  /** With its angle brackets; empty: it has none. */
  messageId: string;
}

interface Trust {
  /** In lower case. */
  authServId: string;
  /** The address that our mails come from. */
  ours: string;
}

/** Whether the beginning of a mail may be that of a reply to one of our mails. */
export function mayBeReply(beginning: string): boolean {
  return /^(?:in-reply-to|references):(?:[^\r\n]|\r?\n[ \t])*<ntf_/im.test(beginning);
}

/** Judges by its headers whether a mail may answer. Otherwise it says why the mail is ignored. */
export function judgeReply(
  { headers, from }: ReplyMail,
  { authServId, ours }: Trust,
): ProvedReply | { ignored: string } {
  const valuesOf = (name: string) =>
    headers.filter(({ key }) => key === name).map(({ value }) => value);
  const domain = ours.slice(ours.indexOf('@') + 1);
  const answered = ['in-reply-to', 'references'].map((name) => valuesOf(name).join(' '));
  const notificationId = answered.map((ids) => findLastId(ids, domain)).find((id) => id !== null);
  if (!notificationId) return { ignored: 'it answers none of our mails' };
  if (isAutomatic(valuesOf)) return { ignored: 'a program has sent it' };
  const [address, ...others] = from;
  if (!address || others.length > 0 || valuesOf('from').length !== 1) {
    return { ignored: 'it has not one sender' };
  }
  const sender = foldEmail(address);
  const doubt = findDoubt(headers, authServId, sender.slice(sender.lastIndexOf('@') + 1));
  if (doubt !== null) return { ignored: `its sender is not proved: ${doubt}` };
  return { notificationId, sender, messageId: valuesOf('message-id')[0]?.trim() ?? '' };
}

function findLastId(ids: string, domain: string): string | null {
  const all = [...ids.matchAll(/<(ntf_\w+)@([^<>\s]+)>/g)];
  return all.findLast(([, , at]) => at?.toLowerCase() === domain.toLowerCase())?.[1] ?? null;
}

/** Answers of the absent, of lists and about failed deliveries (RFC 3834). */
function isAutomatic(valuesOf: (name: string) => string[]): boolean {
  const wordsOf = (name: string) => valuesOf(name).map((value) => value.trim().toLowerCase());
  return (
    wordsOf('auto-submitted').some((word) => !/^no\b/.test(word)) ||
    wordsOf('precedence').some((word) => ['bulk', 'list', 'junk', 'auto_reply'].includes(word)) ||
    wordsOf('return-path').some((path) => path === '<>') ||
    valuesOf('list-id').length > 0
  );
}

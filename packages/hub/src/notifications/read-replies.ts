import type { ImapFlow } from 'imapflow';
import { connectMail, MESSAGE_BYTES_MAX } from '../context/mail/connect.ts';
import { MailReader, UnreadableMailError } from '../context/mail/message-reader.ts';
import { REPLY_MARK } from '../context/mail/quoted-reply.ts';
import type { ReplyMailbox } from '../start/setting-values.ts';
import { answerReply, type ReplyDeps, type ReplyOutcome } from './answer-reply.ts';
import { mayBeReply } from './judge-reply.ts';

/** Of a mail, to see whether it may be a reply: the headers of nearly all. */
const BEGINNING_BYTES = 65_536;
/** Mails that one pass looks at. */
const MAILS_MAX = 50;
/** A mail server that hangs delays the next pass so long. */
const PASS_MS_MAX = 120_000;
/** A reply that is given up is lost, so a busy machine has much time for it. */
const READ_MS_MAX = 10_000;

export interface ReplyReport {
  onOutcome: (outcome: ReplyOutcome) => void;
  /** A mail could not be handled: it is handled again. */
  onError: (error: unknown) => void;
}

/** Opens the mailbox of replies. The connection ends with the signal or `client.close()`. */
export async function openReplyMailbox(
  { host, port, tls, auth, mailbox }: ReplyMailbox,
  signal: AbortSignal,
): Promise<ImapFlow> {
  const access = {
    host,
    port,
    tlsMode: tls,
    caCertificate: null,
    userName: auth.user,
    authKind: 'password' as const,
    secret: auth.pass,
  };
  // The operator names this server, not a person of a workspace.
  const client = await connectMail(access, 'all', signal);
  try {
    const { readOnly, permanentFlags } = await client.mailboxOpen(mailbox);
    // A mail that cannot be marked would be handled again and again.
    if (readOnly || permanentFlags?.has('\\Seen') === false) {
      throw new Error(`the mails of ${mailbox} cannot be marked as seen`);
    }
  } catch (error) {
    client.close();
    throw error;
  }
  return client;
}

/**
 * Handles the mails of the mailbox that are not marked as seen, and marks them. An answer is
 * durable before its mail is marked, so that a mail may be handled twice: that changes nothing.
 */
export async function readReplies(
  deps: ReplyDeps,
  stop: AbortSignal,
  report: ReplyReport,
): Promise<{ hasMore: boolean }> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(PASS_MS_MAX)]);
  const client = await openReplyMailbox(deps.mailbox, signal);
  const reader = new MailReader({ redacts: false }, READ_MS_MAX);
  try {
    const uids = (await client.search({ seen: false }, { uid: true })) || [];
    let done = 0;
    for (const uid of uids.slice(0, MAILS_MAX)) {
      if (!(await handleMail({ ...deps, client, reader }, uid, signal, report))) continue;
      await markSeen(client, uid);
      done += 1;
    }
    // Without progress the next pass comes after the interval.
    return { hasMore: done > 0 && uids.length > MAILS_MAX };
  } finally {
    client.close();
    await reader.close();
  }
}

async function markSeen(client: ImapFlow, uid: number): Promise<void> {
  const isMarked = await client.messageFlagsAdd(String(uid), ['\\Seen'], { uid: true });
  if (!isMarked) throw new Error('A mail of the mailbox of replies could not be marked as seen.');
}

/** @returns false when the mail is to be handled again. */
async function handleMail(
  deps: ReplyDeps & { client: ImapFlow; reader: MailReader },
  uid: number,
  signal: AbortSignal,
  { onOutcome, onError }: ReplyReport,
): Promise<boolean> {
  const beginning = await fetchBeginning(deps.client, uid, BEGINNING_BYTES);
  if (!mayBeReply(beginning.source.toString('latin1'))) return true;
  const isTooLarge = beginning.sizeBytes > MESSAGE_BYTES_MAX;
  const { source } = isTooLarge
    ? beginning
    : await fetchBeginning(deps.client, uid, MESSAGE_BYTES_MAX);
  try {
    const mail = await deps.reader.readReply(source, REPLY_MARK);
    const outcome = await answerReply(deps, mail, isTooLarge, signal);
    onOutcome(outcome);
    return outcome.kind !== 'refused' || outcome.isTold;
  } catch (error) {
    if (error instanceof UnreadableMailError) {
      onOutcome({ kind: 'ignored', reason: 'it cannot be parsed' });
      return true;
    }
    onError(error);
    return false;
  }
}

/** A mail that another hub or program has deleted meanwhile is empty. */
async function fetchBeginning(
  client: ImapFlow,
  uid: number,
  bytesMax: number,
): Promise<{ source: Buffer; sizeBytes: number }> {
  const query = { size: true, source: { start: 0, maxLength: bytesMax } };
  const mail = await client.fetchOne(String(uid), query, { uid: true });
  if (!mail) return { source: Buffer.alloc(0), sizeBytes: 0 };
  const { source = Buffer.alloc(0), size: sizeBytes = 0 } = mail;
  return { source, sizeBytes };
}

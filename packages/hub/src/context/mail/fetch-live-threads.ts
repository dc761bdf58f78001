import type { ImapFlow } from 'imapflow';
import { cutText } from '../data-policy.ts';
import type { ContextDeps } from '../deps.ts';
import { openMailSecret } from './account-secret.ts';
import { connectMail, type MailAccess } from './connect.ts';
import { type FetchedMessage, fetchThread, listThreadMailboxes } from './fetch-thread.ts';
import { describeMailFailure } from './mail-failure.ts';
import { MailReader, UnreadableMailError } from './message-reader.ts';
import type { MailMessage } from './read-message.ts';
import { listSealedMailAccounts, type MailAccountRow } from './store.ts';

/** A message of a live thread; one that could not be read has no `content`. */
export interface LiveMessage {
  messageId: string | null;
  receivedAtMs: number;
  content: MailMessage | null;
  truncated: boolean;
}

/** The messages of a thread, oldest first, and how many came before; or why there are none. */
export type LiveThread = { messages: LiveMessage[]; leftOut: number } | { failure: string };

type LiveDeps = Pick<ContextDeps, 'database' | 'secretKey' | 'mail'>;

/** Further accounts are not asked: five servers are what fits into ten seconds. */
const ACCOUNTS_MAX = 5;
const CONNECTIONS_PER_ACCOUNT = 2;
/** As in the contract's schema: five failures can be longer together. */
const FAILURE_CHARS_MAX = 1_000;

interface Account {
  name: string;
  mailboxes: string[];
  /** Null: its secret cannot be opened. */
  access: MailAccess | null;
}

interface Finding {
  threadRef: string;
  messages: LiveMessage[];
  leftOut: number;
  failure: string | null;
}

/**
 * Fetches mail threads from all mail accounts of a workspace, in parallel and within
 * `mail.totalMs` in all. It never throws for what a server does: a thread that was not found in
 * time has a sentence that says why.
 */
export async function fetchLiveThreads(
  deps: LiveDeps,
  workspaceId: string,
  threadRefs: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, LiveThread>> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), deps.mail.totalMs);
  const until = AbortSignal.any([signal, limit.signal]);
  try {
    const accounts = await openAccounts(deps, workspaceId);
    const findings = await Promise.all(
      accounts.flatMap((account) =>
        shareOut(threadRefs).map((share) => searchAccount(deps, account, share, until)),
      ),
    );
    return mergeFindings(threadRefs, findings.flat(), accounts.length);
  } finally {
    clearTimeout(timer);
  }
}

async function openAccounts(deps: LiveDeps, workspaceId: string): Promise<Account[]> {
  const rows = await listSealedMailAccounts(deps.database.reader, workspaceId, ACCOUNTS_MAX);
  return rows.map((row) => ({
    name: row.name,
    mailboxes: JSON.parse(row.mailboxes) as string[],
    access: openAccess(row, deps.secretKey),
  }));
}

function openAccess(row: MailAccountRow, key: Buffer): MailAccess | null {
  const place = { workspaceId: row.workspace_id, accountId: row.account_id };
  let secret: string;
  try {
    secret = openMailSecret(row.sealed_secret, key, place);
  } catch {
    // The hub's key is another one now; the account says so instead of failing the call.
    return null;
  }
  return {
    host: row.host,
    port: row.port,
    tlsMode: row.tls_mode,
    caCertificate: row.ca_certificate,
    userName: row.user_name,
    authKind: row.auth_kind,
    secret,
  };
}

function shareOut(threadRefs: readonly string[]): string[][] {
  const shares = Array.from({ length: CONNECTIONS_PER_ACCOUNT }, (_, share) =>
    threadRefs.filter((_, at) => at % CONNECTIONS_PER_ACCOUNT === share),
  );
  return shares.filter((share) => share.length > 0);
}

/** Looks for some threads over one connection, one after the other. */
async function searchAccount(
  deps: LiveDeps,
  account: Account,
  threadRefs: readonly string[],
  signal: AbortSignal,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const { access } = account;
  try {
    if (access === null) throw new Error('the secret cannot be opened');
    await abortable(
      signal,
      deps.mail.connections.use(signal, () =>
        searchConnected(deps, account, access, threadRefs, signal, findings),
      ),
    );
  } catch (error) {
    const failure =
      access === null
        ? `The secret of the mail account "${account.name}" cannot be opened: enter it again.`
        : describeMailFailure(error, account.name, signal, deps.mail.totalMs);
    const found = new Set(findings.map(({ threadRef }) => threadRef));
    for (const threadRef of threadRefs) {
      if (!found.has(threadRef)) findings.push({ threadRef, messages: [], leftOut: 0, failure });
    }
  }
  // A copy: what the connection still does after the end of time is nobody's any more.
  return [...findings];
}

async function searchConnected(
  deps: LiveDeps,
  account: Account,
  access: MailAccess,
  threadRefs: readonly string[],
  signal: AbortSignal,
  findings: Finding[],
): Promise<void> {
  const client = await connectMail(access, deps.mail.allowPrivateHosts, signal);
  const reader = new MailReader();
  try {
    const mailboxes = await listThreadMailboxes(client, account.mailboxes);
    for (const threadRef of threadRefs) {
      signal.throwIfAborted();
      const thread = await readThread(client, reader, mailboxes, threadRef, signal);
      findings.push({ threadRef, ...thread, failure: null });
    }
  } finally {
    client.close();
    await reader.close();
  }
}

async function readThread(
  client: ImapFlow,
  reader: MailReader,
  mailboxes: readonly string[],
  threadRef: string,
  signal: AbortSignal,
): Promise<{ messages: LiveMessage[]; leftOut: number }> {
  const messages: LiveMessage[] = [];
  const thread = await fetchThread(client, mailboxes, threadRef);
  for (const fetched of thread.messages) {
    signal.throwIfAborted();
    messages.push(await readMessage(reader, fetched));
  }
  return { messages, leftOut: thread.leftOut };
}

async function readMessage(reader: MailReader, fetched: FetchedMessage): Promise<LiveMessage> {
  const { messageId, receivedAtMs, source, truncated } = fetched;
  try {
    return { messageId, receivedAtMs, truncated, content: await reader.read(source) };
  } catch (error) {
    if (!(error instanceof UnreadableMailError)) throw error;
    return { messageId, receivedAtMs, truncated, content: null };
  }
}

/** Rejects when the signal aborts, whatever the work still waits for. */
function abortable(signal: AbortSignal, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function mergeFindings(
  threadRefs: readonly string[],
  findings: readonly Finding[],
  accountCount: number,
): Map<string, LiveThread> {
  return new Map(
    threadRefs.map((threadRef): [string, LiveThread] => {
      const own = findings.filter((finding) => finding.threadRef === threadRef);
      const messages = mergeMessages(own.flatMap((finding) => finding.messages));
      const leftOut = own.reduce((sum, finding) => sum + finding.leftOut, 0);
      if (messages.length > 0) return [threadRef, { messages, leftOut }];
      const failures = own.map(({ failure }) => failure).filter((failure) => failure !== null);
      const failure = failures.join(' ') || explainNothing(accountCount);
      return [threadRef, { failure: cutText(failure, FAILURE_CHARS_MAX) }];
    }),
  );
}

function explainNothing(accountCount: number): string {
  return accountCount === 0
    ? 'No mail account is set up in this workspace.'
    : 'No mailbox of the mail accounts has a message of this thread.';
}

/** One of each message, wherever copies of it lie, oldest first. */
function mergeMessages(messages: readonly LiveMessage[]): LiveMessage[] {
  const seen = new Set<string>();
  const merged = messages.filter(({ messageId }) => {
    if (messageId === null) return true;
    if (seen.has(messageId)) return false;
    seen.add(messageId);
    return true;
  });
  return merged.sort((a, b) => a.receivedAtMs - b.receivedAtMs);
}

import type { ImapFlow } from 'imapflow';
import { OutboundHostError } from '../../base/outbound-hosts.ts';
import { cutText } from '../data-policy.ts';
import type { ContextDeps } from '../deps.ts';
import { openMailSecret } from './account-secret.ts';
import { connectMail, type MailAccess } from './connect.ts';
import { type FetchedMessage, fetchThread, listThreadMailboxes } from './fetch-thread.ts';
import { MailReader, UnreadableMailError } from './message-reader.ts';
import type { MailMessage, MailReading } from './read-message.ts';
import { listSealedMailAccounts, type MailAccountRow } from './store.ts';

/** A message of a live thread. `content` is null when the message could not be parsed. */
export interface LiveMessage {
  messageId: string | null;
  receivedAtMs: number;
  content: MailMessage | null;
  truncated: boolean;
}

/** The messages of a thread, oldest first, and how many older ones were left out; or a failure. */
export type LiveThread = { messages: LiveMessage[]; leftOut: number } | { failure: string };

type LiveDeps = Pick<ContextDeps, 'database' | 'secretKey' | 'mail'> & { reading: MailReading };

/** Only the first accounts are asked: more servers do not fit into the time limit. */
const ACCOUNTS_MAX = 5;
const CONNECTIONS_PER_ACCOUNT = 2;
/** The contract's limit; the failures of five accounts together may be longer. */
const FAILURE_CHARS_MAX = 1_000;

/** Error codes of a server that cannot be reached. */
const unreachableCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'CONNECT_TIMEOUT',
  'NoConnection',
  'EConnectionClosed',
]);

interface Account {
  name: string;
  mailboxes: string[];
  /** Null when the secret cannot be decrypted. */
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
 * `mail.totalMs`. A failing mail server is no error: a thread that was not found in time has a
 * sentence that says why.
 */
export async function fetchLiveThreads(
  deps: LiveDeps,
  workspaceId: string,
  threadRefs: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, LiveThread>> {
  const { totalMs, endAfter = (ms) => AbortSignal.timeout(ms) } = deps.mail;
  const until = AbortSignal.any([signal, endAfter(totalMs)]);
  const accounts = await openAccounts(deps, workspaceId);
  const findings = await Promise.all(
    accounts.flatMap((account) =>
      shareOut(threadRefs).map((share) => searchAccount(deps, account, share, until)),
    ),
  );
  return mergeFindings(threadRefs, findings.flat(), accounts.length);
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
    // The hub's key has changed. The account reports that instead of failing the whole call.
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

/** Searches an account for some threads over one connection, one after the other. */
async function searchAccount(
  deps: LiveDeps,
  account: Account,
  threadRefs: readonly string[],
  signal: AbortSignal,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const { access } = account;
  try {
    if (access === null) throw new Error('the secret cannot be decrypted');
    await abortable(
      signal,
      deps.mail.connections.use(signal, () =>
        searchConnected(deps, account, access, threadRefs, signal, findings),
      ),
    );
  } catch (error) {
    const failure =
      access === null
        ? `The secret of the mail account "${account.name}" cannot be decrypted: enter it again.`
        : describeMailFailure(error, account.name, signal, deps.mail.totalMs);
    const found = new Set(findings.map(({ threadRef }) => threadRef));
    for (const threadRef of threadRefs) {
      if (!found.has(threadRef)) findings.push({ threadRef, messages: [], leftOut: 0, failure });
    }
  }
  // A copy, because the connection may still add findings after the time limit.
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
  const reader = new MailReader(deps.reading);
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

/** Rejects as soon as the signal aborts, without waiting for the work to end. */
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

/** Merges copies of the same message from several accounts, and sorts oldest first. */
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

/**
 * Describes why an account could not be read, in a sentence for people and agents. It contains
 * nothing that the server sent, which may be hostile, and nothing of the secret.
 */
function describeMailFailure(
  error: unknown,
  accountName: string,
  signal: AbortSignal,
  totalMs: number,
): string {
  const server = `The mail server of the account "${accountName}"`;
  if (error instanceof OutboundHostError) {
    return `The mail account "${accountName}" cannot be used. ${error.message}`;
  }
  if (signal.aborted) return `${server} did not answer within ${totalMs / 1_000} s.`;
  const { authenticationFailed, code } = (error ?? {}) as {
    authenticationFailed?: unknown;
    code?: unknown;
  };
  if (authenticationFailed === true) return `${server} refused the sign-in.`;
  if (typeof code !== 'string') return `${server} gave an answer that could not be read.`;
  if (unreachableCodes.has(code)) return `${server} could not be reached.`;
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ISSUER/.test(code)) {
    return `${server} has a certificate that is not trusted, or not for its name.`;
  }
  return `${server} gave an answer that could not be read.`;
}

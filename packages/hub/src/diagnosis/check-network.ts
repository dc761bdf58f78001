import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createConnection, isIP } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { listMailServers } from '../context/mail/store.ts';
import type { Reader } from '../db/engine.ts';
import { createSmtpTransport } from '../notifications/send-mail.ts';
import { judgeSlack, SlackApi } from '../notifications/slack-api.ts';
import type { Config } from '../start/config.ts';
import { createS3Store } from '../uploads/bytes/s3-store.ts';
import type { Finding } from './finding.ts';

type Verdict = Omit<Finding, 'name'>;

const CONNECT_MS_MAX = 5_000;
const DAY_MS = 86_400_000;
const CERTIFICATE_DAYS_MIN = 14;

/** Checks the address that people and agents use. */
export async function checkAddress(
  { baseUrl, host }: Pick<Config, 'baseUrl' | 'host'>,
  { isPublic }: { isPublic: boolean },
): Promise<Verdict> {
  if (baseUrl === null) {
    if (!isPublic) return { state: 'ok', message: `this machine only (${host})` };
    const message =
      'SVC_BASE_URL is not set, so links lead to the address that the hub listens on: set it to ' +
      'the https:// address of the proxy in front of it.';
    return { state: 'warning', message };
  }
  const health = new URL('control-plane/health', `${baseUrl.replace(/\/$/, '')}/`);
  const answer = await fetch(health, {
    redirect: 'manual',
    signal: AbortSignal.timeout(CONNECT_MS_MAX),
  }).catch((error: Error) => {
    const reason = (error.cause as { code?: string } | undefined)?.code ?? error.message;
    throw new Error(
      `${baseUrl} does not answer (${reason}): start the hub, and check the proxy and SVC_BASE_URL.`,
    );
  });
  const body: unknown = await answer.json().catch(() => null);
  if (answer.status !== 200 || (body as { ok?: unknown } | null)?.ok !== true) {
    throw new Error(
      `${baseUrl} answers with status ${answer.status}, but not as a hub: lead it to the hub.`,
    );
  }
  return { state: 'ok', message: `${baseUrl} leads to a hub` };
}

/** Checks the certificate of the address. */
export async function checkTls({ baseUrl, host }: Pick<Config, 'baseUrl' | 'host'>) {
  const url = new URL(baseUrl ?? `http://${host.includes(':') ? `[${host}]` : host}`);
  if (url.protocol !== 'https:') return judgePlainHttp(url);
  const target = url.hostname.replace(/^\[|\]$/g, '');
  const socket = connect({
    host: target,
    port: Number(url.port || 443),
    // RFC 6066, section 3: a server name is never an address.
    ...(isIP(target) === 0 ? { servername: target } : {}),
  });
  socket.setTimeout(CONNECT_MS_MAX, () => socket.destroy(new Error('no answer in 5 s')));
  try {
    await once(socket, 'secureConnect');
    const expiresMs = Date.parse(socket.getPeerCertificate().valid_to);
    const days = Math.floor((expiresMs - Date.now()) / DAY_MS);
    const message = `the certificate of ${url.host} is valid for ${days} more days`;
    if (days >= CERTIFICATE_DAYS_MIN) return { state: 'ok', message } satisfies Verdict;
    return { state: 'warning', message: `${message}: renew it.` } satisfies Verdict;
  } catch (error) {
    throw new Error(
      `${url.host} has no valid certificate (${(error as Error).message}): mend it in the proxy.`,
    );
  } finally {
    socket.destroy();
  }
}

function judgePlainHttp({ hostname, host }: URL): Verdict {
  if (hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')) {
    return { state: 'ok', message: 'not needed on this machine' };
  }
  const message =
    `People reach ${host} over plain HTTP, which anyone between can read: put a proxy with TLS in ` +
    'front of the hub, and set SVC_BASE_URL to its https:// address.';
  return { state: 'warning', message };
}

/** Connects to the mail servers that workspaces read from. */
export async function checkMail(reader: Reader): Promise<Verdict> {
  const servers = await listMailServers(reader);
  const silent: string[] = [];
  for (const { host, port } of servers) {
    const reason = await connectTo(host, port);
    if (reason !== null) silent.push(`${host}:${port} (${reason})`);
  }
  if (silent.length === 0) {
    const message = servers.length === 0 ? 'no mail accounts' : `${servers.length} servers answer`;
    return { state: 'ok', message };
  }
  const message = `No connection to ${silent.join(', ')}: check the mail accounts and the network.`;
  return { state: 'warning', message };
}

/** @returns why there is no connection; null: there is one. */
async function connectTo(host: string, port: number): Promise<string | null> {
  const socket = createConnection({ host, port });
  socket.setTimeout(CONNECT_MS_MAX, () => socket.destroy(new Error('no answer in 5 s')));
  try {
    await once(socket, 'connect');
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    socket.destroy();
  }
}

/** Checks that the server for mails of the hub lets it sign in. */
export async function checkSmtp({ smtp }: Pick<Config, 'smtp'>): Promise<Verdict> {
  if (smtp === null) return { state: 'ok', message: 'no mail server for notifications' };
  const transport = await createSmtpTransport(smtp, CONNECT_MS_MAX);
  const place = `${smtp.host}:${smtp.port}`;
  await transport.verify().catch((error: Error) => {
    throw new Error(`${place} takes no mail (${error.message}): check SVC_SMTP_URL.`);
  });
  return { state: 'ok', message: `${place} takes mail` };
}

/** Checks that Slack accepts the token of the hub's app. */
export async function checkSlack({ slack: app }: Pick<Config, 'slack'>): Promise<Verdict> {
  if (app === null) return { state: 'ok', message: 'no app of Slack' };
  const slack = new SlackApi(app, { warn() {} }, AbortSignal.timeout(CONNECT_MS_MAX));
  const client = await slack.client();
  const { team, user } = await client.auth.test().catch((error: unknown) => {
    throw new Error(judgeSlack(error).failure);
  });
  return { state: 'ok', message: `${user ?? 'an app'} in ${team ?? 'a team'}` };
}

/** Writes, reads and deletes an object of the store, as uploads do. */
export async function checkObjectStore({
  s3,
  dataDir,
}: Pick<Config, 's3' | 'dataDir'>): Promise<Verdict> {
  if (s3 === null) return { state: 'ok', message: 'in the data directory' };
  const store = createS3Store(s3, join(dataDir, 'uploads', 'lent'));
  const bytes = randomBytes(64);
  const key = `doctor-${randomBytes(8).toString('hex')}`;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  try {
    await store.put(key, oneOf(bytes), { sizeBytes: bytes.length, sha256 });
    const read = await store.read(key, null);
    read?.destroy();
    if (read === null) throw new Error('an object that was just written is not there');
    await store.delete(key);
  } catch (error) {
    throw new Error(
      `The bucket ${s3.bucket} at ${s3.endpoint} does not take, give or delete an object ` +
        `(${(error as Error).message}): check the SVC_S3_ settings and the rights of the key.`,
    );
  }
  return { state: 'ok', message: `${s3.bucket} at ${s3.endpoint}` };
}

async function* oneOf(bytes: Uint8Array) {
  yield bytes;
}

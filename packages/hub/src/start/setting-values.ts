import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { isAddressOrRange, isHostEntry, type PrivateHosts } from '../base/outbound-hosts.ts';

/*
 * The readers of single settings. Each takes the text that a person wrote, and throws one sentence
 * that names the setting and the valid values.
 */

/** An invalid setting. The message is complete; it needs no stack trace. */
export class SettingError extends Error {}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
type LogLevel = (typeof logLevels)[number];

const PORT_MAX = 65_535;
/** One connection each for reads, for exclusive writes and for concurrent writes. */
const SESSIONS_MIN = 3;
const SESSIONS_MAX = 200;
const SECRET_KEY_BYTES = 32;
const SECRETS_MAX = 2;

export function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > PORT_MAX) {
    throw new SettingError(
      `SVC_PORT is "${text}": it must be a port number from 0 to ${PORT_MAX}.`,
    );
  }
  return port;
}

export function readBaseUrl(text: string): string | null {
  if (text === '') return null;
  const origin = originOf(text);
  if (origin !== null) return origin;
  throw new SettingError(
    `SVC_BASE_URL is "${text}": it must be an address without a path, as in https://signalbox.acme.dev.`,
  );
}

/** The origin of a URL that consists of scheme, host and port only; null for other texts. */
export function originOf(text: string): string | null {
  const url = URL.parse(text);
  const plain = url !== null && url.search === '' && url.hash === '' && url.username === '';
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  return plain && isHttp && url.pathname === '/' ? url.origin : null;
}

export function readTrustedProxies(text: string): string[] {
  if (text === '') return [];
  const entries = text.split(',').map((entry) => entry.trim());
  const wrong = entries.find((entry) => !isAddressOrRange(entry));
  if (wrong === undefined) return entries;
  throw new SettingError(
    `SVC_TRUSTED_PROXIES contains "${wrong}": it must be addresses and ranges, separated by ` +
      'commas, as in 10.0.0.7, fd00::/8.',
  );
}

export function readRate(text: string, env: string): number {
  const rate = Number(text);
  if (/^\d{1,9}$/.test(text)) return rate;
  throw new SettingError(
    `${env} is "${text}": it must be a number of units a second, or 0 for no limit.`,
  );
}

const unitBytes = { MB: 1_000_000, GB: 1_000_000_000 } as const;

/** A number of bytes with its unit, as in 512 MB. */
export function readBytes(text: string, env: string): number {
  const [, digits = '', unit] = /^(\d{1,6}) ?(MB|GB)$/.exec(text) ?? [];
  if (unit === 'MB' || unit === 'GB') return Number(digits) * unitBytes[unit];
  throw new SettingError(`${env} is "${text}": it must be a size, as in 512 MB or 10 GB.`);
}

export function readFlag(text: string, env: string): boolean {
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw new SettingError(`${env} is "${text}": it must be true or false.`);
}

export function readPrivateHosts(text: string): PrivateHosts {
  if (text === 'true') return 'all';
  if (text === '' || text === 'false') return [];
  const entries = text.split(',').map((entry) => entry.trim());
  const wrong = entries.find((entry) => !isHostEntry(entry));
  if (wrong !== undefined) {
    throw new SettingError(
      `SVC_ALLOW_PRIVATE_HOSTS contains "${wrong}": it must be host names, addresses and ranges, ` +
        'separated by commas, or true.',
    );
  }
  return entries;
}

/** The server that takes the hub's mails to people. */
export interface SmtpServer {
  host: string;
  port: number;
  /** `none` on this machine only. */
  tls: 'tls' | 'starttls' | 'none';
  /** Null: the server asks for no sign-in. */
  auth: { user: string; pass: string } | null;
  /** The address that mails come from. */
  from: string;
}

const smtpPorts = { 'smtps:': 465, 'smtp:': 587 } as const;
/** An address that needs no quoting in a header. */
const MAIL_ADDRESS = /^[\w.+-]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)*$/i;

/** Both or neither. The URL may contain a password, so errors omit it. */
export function readSmtp(urlText: string, from: string): SmtpServer | null {
  if (urlText === '' && from === '') return null;
  if (urlText === '' || from === '') {
    throw new SettingError(
      'SVC_SMTP_URL and SVC_MAIL_FROM belong together: set both for mail, or neither.',
    );
  }
  if (!MAIL_ADDRESS.test(from)) {
    throw new SettingError(
      `SVC_MAIL_FROM is "${from}": it must be an address, as in signalbox@acme.dev.`,
    );
  }
  const server = readMailServer(urlText, smtpPorts);
  if (server === null || !/^\/?$/.test(server.path)) {
    throw new SettingError(
      'SVC_SMTP_URL is not an address as in smtps://user:password@mail.acme.dev:465 or ' +
        `smtp://mail.acme.dev:587: ${CORRECT_URL}`,
    );
  }
  const { path: _path, ...place } = server;
  return { ...place, from };
}

/** The mailbox to which people's replies come, and whose word about their senders is believed. */
export interface ReplyMailbox extends Pick<SmtpServer, 'host' | 'port' | 'tls'> {
  auth: { user: string; pass: string };
  mailbox: string;
  /** The authserv-id of the receiving server (RFC 8601), in lower case. */
  authServId: string;
}

const imapPorts = { 'imaps:': 993, 'imap:': 143 } as const;
/** A token of RFC 2045, such as a host name. */
const AUTH_SERV_ID = /^[\w.+-]{1,253}$/;

/** Both or neither, and only with mail. The URL contains a password, so errors omit it. */
export function readReplyMailbox(
  urlText: string,
  authServId: string,
  smtp: SmtpServer | null,
): ReplyMailbox | null {
  if (urlText === '' && authServId === '') return null;
  if (urlText === '' || authServId === '' || smtp === null) {
    throw new SettingError(
      'SVC_IMAP_URL and SVC_MAIL_AUTH_ID belong together, and with SVC_SMTP_URL and SVC_MAIL_FROM: ' +
        'set all of them for replies by mail, or unset these two.',
    );
  }
  if (!AUTH_SERV_ID.test(authServId)) {
    throw new SettingError(
      `SVC_MAIL_AUTH_ID is "${authServId}": it must be what Authentication-Results begin with, as ` +
        'in mx.acme.dev.',
    );
  }
  const server = readMailServer(urlText, imapPorts);
  const { path = '', auth = null } = server ?? {};
  const mailbox = decodePart(path.slice(1));
  if (server === null || auth === null || !mailbox) {
    throw new SettingError(
      'SVC_IMAP_URL is not an address as in imaps://user:password@mail.acme.dev/INBOX: ' +
        CORRECT_URL,
    );
  }
  const { host, port, tls } = server;
  return { host, port, tls, auth, mailbox, authServId: authServId.toLowerCase() };
}

const CORRECT_URL = 'correct it (in a password, # is %23, / is %2F, @ is %40, % is %25).';

/**
 * Reads the URL of a mail server. Null: it is not one.
 *
 * @param ports the protocol with TLS from the first byte, and the one with STARTTLS.
 */
function readMailServer(
  text: string,
  ports: Readonly<Record<string, number>>,
): (Omit<SmtpServer, 'from'> & { path: string }) | null {
  const url = URL.parse(text);
  const port = url === null ? undefined : ports[url.protocol];
  if (url === null || port === undefined || url.hostname === '') return null;
  const auth = readMailAuth(url);
  if (auth === undefined || url.search + url.hash !== '') return null;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const plainTls = isLoopback(host) ? 'none' : 'starttls';
  return {
    host,
    port: Number(url.port) || port,
    auth,
    path: url.pathname,
    tls: url.protocol.endsWith('s:') ? 'tls' : plainTls,
  };
}

/** Undefined: they are not percent-encoded, or one is missing. */
function readMailAuth({ username, password }: URL): SmtpServer['auth'] | undefined {
  if (username === '' && password === '') return null;
  const [user, pass] = [decodePart(username), decodePart(password)];
  return user && pass ? { user, pass } : undefined;
}

/** Undefined: a per cent sign begins no escape. */
function decodePart(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The app of Slack by which the hub tells people, and takes their answers. */
export interface SlackApp {
  botToken: string;
  /** For Socket Mode; null: Slack sends to paths of the hub. */
  appToken: string | null;
  /** Of those requests. */
  signingSecrets: readonly string[];
  /** With a slash at the end. */
  apiUrl: string;
}

/** The bot token and at least one of the others, or none. */
export function readSlackApp(
  app: Omit<SlackApp, 'botToken' | 'appToken'> & { botToken: string; appToken: string },
): SlackApp | null {
  const { botToken, appToken, signingSecrets, apiUrl } = app;
  const isAnswered = appToken !== '' || signingSecrets.length > 0;
  if (botToken === '' && !isAnswered) return null;
  if (botToken === '' || !isAnswered) {
    throw new SettingError(
      'SVC_SLACK_BOT_TOKEN belongs with SVC_SLACK_APP_TOKEN or SVC_SLACK_SIGNING_SECRET: set it ' +
        'and one of them, or none.',
    );
  }
  checkSlackToken('SVC_SLACK_BOT_TOKEN', botToken, 'xoxb-');
  if (appToken !== '') checkSlackToken('SVC_SLACK_APP_TOKEN', appToken, 'xapp-');
  if (!/^https?:$/.test(URL.parse(apiUrl)?.protocol ?? '')) {
    throw new SettingError(
      `SVC_SLACK_API_URL is "${apiUrl}": it must be an address, as in https://slack-gov.com/api/.`,
    );
  }
  const slash = apiUrl.endsWith('/') ? '' : '/';
  return { botToken, appToken: appToken || null, signingSecrets, apiUrl: `${apiUrl}${slash}` };
}

/** The error omits the value. */
function checkSlackToken(env: string, token: string, prefix: string): void {
  if (token.startsWith(prefix) && !/\s/.test(token)) return;
  throw new SettingError(`${env} must be a token of Slack that begins with ${prefix}.`);
}

/** An S3-compatible object store and its credentials. */
export interface S3Config {
  /** Origin of the store's API. */
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** true: `endpoint/bucket/key`; false: `bucket.endpoint/key`. */
  forcePathStyle: boolean;
}

const requiredOfS3 = {
  endpoint: 'SVC_S3_ENDPOINT',
  bucket: 'SVC_S3_BUCKET',
  accessKeyId: 'SVC_S3_ACCESS_KEY_ID',
  secretAccessKey: 'SVC_S3_SECRET_ACCESS_KEY',
};
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** All of them or none: a hub with half of them would accept uploads that it cannot store. */
export function readS3(given: S3Config): S3Config | null {
  const required = Object.entries(requiredOfS3) as [keyof typeof requiredOfS3, string][];
  const missing = required.filter(([name]) => given[name] === '');
  if (missing.length === required.length) return null;
  if (missing.length > 0) {
    const names = missing.map(([, env]) => env).join(' and ');
    throw new SettingError(
      `${names} must be set as well for an S3 store: set all of them or none.`,
    );
  }
  if (!BUCKET_NAME.test(given.bucket)) {
    throw new SettingError(
      `SVC_S3_BUCKET is "${given.bucket}": it must be 3 to 63 lower-case letters, digits, dots and dashes.`,
    );
  }
  return { ...given, endpoint: readEndpoint(given.endpoint) };
}

function readEndpoint(text: string): string {
  const origin = originOf(text);
  if (origin !== null) return origin;
  throw new SettingError(
    `SVC_S3_ENDPOINT is "${text}": it must be an address without a path, as in https://s3.eu-central-1.amazonaws.com.`,
  );
}

/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** The same of the address of a hub. */
export function hasLoopbackHost(origin: string): boolean {
  // A URL has an IPv6 address in brackets.
  const { hostname } = new URL(origin);
  return isLoopback(hostname.replace(/^\[(.*)\]$/, '$1')) || hostname.endsWith('.localhost');
}

/** One secret, or the old and the new one during a rotation. The error omits the value. */
export function readSecrets(text: string, env: string): string[] {
  const secrets = text.split(',').map((secret) => secret.trim());
  if (secrets.length === 1 && secrets[0] === '') return [];
  if (secrets.length <= SECRETS_MAX && !secrets.includes('')) return secrets;
  throw new SettingError(`${env} must be one secret, or two separated by a comma.`);
}

export function readLogLevel(text: string): LogLevel {
  const level = logLevels.find((known) => known === text);
  if (level === undefined) {
    throw new SettingError(
      `SVC_LOG_LEVEL is "${text}": it must be one of ${logLevels.join(', ')}.`,
    );
  }
  return level;
}

export function readDatabaseUrl(text: string): string | null {
  if (text === '') return null;
  // libpq's form for a socket has no host: postgres://user@/name?host=/run/postgresql.
  const parses = URL.canParse(text) || URL.canParse(text.replace('@/', '@localhost/'));
  if (/^postgres(ql)?:\/\//.test(text) && parses) return text;
  // The value may contain a password, so the error omits it.
  throw new SettingError(
    'SVC_DATABASE_URL is not an address as in postgres://user:password@host:5432/database: ' +
      'correct it (in a password, # is %23, / is %2F, @ is %40), or unset it to use SQLite in the ' +
      'data directory.',
  );
}

/** The error omits the value. */
export function readSecretKey(text: string): Buffer | null {
  if (text === '') return null;
  const key = Buffer.from(text, 'base64');
  if (/^[A-Za-z0-9+/]{43}=$/.test(text) && key.length === SECRET_KEY_BYTES) return key;
  throw new SettingError(
    `SVC_SECRET_KEY must be ${SECRET_KEY_BYTES} bytes in base64: generate it with \`openssl rand -base64 32\`.`,
  );
}

export function readSessions(text: string): number {
  const sessions = Number(text);
  if (/^\d{1,3}$/.test(text) && sessions >= SESSIONS_MIN && sessions <= SESSIONS_MAX) {
    return sessions;
  }
  throw new SettingError(
    `SVC_DATABASE_SESSIONS is "${text}": it must be a number from ${SESSIONS_MIN} to ${SESSIONS_MAX}.`,
  );
}

/** Reads a secret from a file, such as one that a container platform mounts. */
export function readSecretFile(env: string, path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new SettingError(
      `${env} names a file that cannot be read (${(error as Error).message}).`,
    );
  }
  if (text === '') throw new SettingError(`${env} names ${path}, which is empty.`);
  return text;
}

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** The workspaces that the hub's own integration secret opens; a list: by their slugs. */
export type IntegrationWorkspaces = 'operator' | 'all' | readonly string[];

export function readIntegrationWorkspaces(text: string): IntegrationWorkspaces {
  if (text === 'operator' || text === 'all') return text;
  const slugs = text.split(',').map((slug) => slug.trim());
  const wrong = slugs.find((slug) => !SLUG.test(slug));
  if (wrong === undefined) return slugs;
  throw new SettingError(
    `SVC_INTEGRATION_EVENT_WORKSPACES contains "${wrong}": it must be operator, all, or slugs of ` +
      'workspaces, separated by commas.',
  );
}

const workspaceCreations = ['admins', 'everyone', 'operator'] as const;
/** Who may create workspaces at the console. */
export type WorkspaceCreation = (typeof workspaceCreations)[number];

export function readWorkspaceCreation(text: string): WorkspaceCreation {
  const creation = workspaceCreations.find((known) => known === text);
  if (creation !== undefined) return creation;
  throw new SettingError(
    `SVC_WORKSPACE_CREATION is "${text}": it must be one of ${workspaceCreations.join(', ')}.`,
  );
}

/** The data directory of a user: that of the XDG Base Directory Specification. */
export function userDataDir(env: Readonly<Record<string, string | undefined>>): string {
  const { XDG_DATA_HOME: given = '' } = env;
  // The specification ignores relative paths.
  return join(isAbsolute(given) ? given : join(homedir(), '.local', 'share'), 'signalbox');
}

import { isHostEntry, type PrivateHosts } from './outbound-hosts.ts';

/**
 * A setting of the hub: its environment variable, flag, default and meaning. Settings are read
 * once, at the start. `npm run docs` writes the page of settings from the table below.
 */
export interface Setting {
  env: string;
  flag: string;
  /** As a person would write it; empty without a default. */
  default: string;
  description: string;
  secret?: true;
}

export const settings = {
  host: {
    env: 'SVC_HOST',
    flag: 'host',
    default: '127.0.0.1',
    description: 'Address to listen on.',
  },
  port: {
    env: 'SVC_PORT',
    flag: 'port',
    default: '4400',
    description: 'Port to listen on; 0 chooses a free one.',
  },
  baseUrl: {
    env: 'SVC_BASE_URL',
    flag: 'base-url',
    default: '',
    description:
      'Address under which people and agents reach the hub, as in https://signalbox.acme.dev; ' +
      'without it, the address it listens on.',
  },
  dataDir: {
    env: 'SVC_DATA_DIR',
    flag: 'data-dir',
    default: '.signalbox',
    description: 'Directory of the database and the hub’s key; on a local disk.',
  },
  databaseUrl: {
    env: 'SVC_DATABASE_URL',
    flag: 'database-url',
    default: '',
    description:
      'PostgreSQL 15 or newer, as in postgres://user:password@host:5432/signalbox; several hubs may ' +
      'share it. Without it, SQLite in the data directory.',
    secret: true,
  },
  databaseSessions: {
    env: 'SVC_DATABASE_SESSIONS',
    flag: 'database-sessions',
    default: '12',
    description: 'Maximum number of connections from this hub to PostgreSQL, 3 to 200.',
  },
  databasePooled: {
    env: 'SVC_DATABASE_POOLED',
    flag: 'database-pooled',
    default: 'false',
    description: 'true: SVC_DATABASE_URL is a pooler in transaction mode, such as PgBouncer.',
  },
  secretKey: {
    env: 'SVC_SECRET_KEY',
    flag: 'secret-key',
    default: '',
    description:
      'The hub’s key, 32 random bytes in base64, the same for all hubs of a database; without it, ' +
      'the file secret.key in the data directory, which the first start creates.',
    secret: true,
  },
  devAllowUnauth: {
    env: 'SVC_DEV_ALLOW_UNAUTH',
    flag: 'dev-allow-unauth',
    default: 'false',
    description:
      'true: requests without a token act as the development principal; on loopback addresses only.',
  },
  globalToken: {
    env: 'SVC_CONTROL_PLANE_TOKEN',
    flag: 'control-plane-token',
    default: '',
    description: 'Legacy global token; rejected unless the next setting is true.',
    secret: true,
  },
  allowGlobalToken: {
    env: 'SVC_CONTROL_PLANE_ALLOW_GLOBAL_TOKEN',
    flag: 'control-plane-allow-global-token',
    default: 'false',
    description: 'true: the legacy global token is accepted.',
  },
  allowPrivateHosts: {
    env: 'SVC_ALLOW_PRIVATE_HOSTS',
    flag: 'allow-private-hosts',
    default: '',
    description:
      'Hosts in private networks that the hub may call, such as a mail server: names, addresses ' +
      'and ranges, separated by commas, as in mail.acme.lan, 10.0.0.0/8; or true for all.',
  },
  s3Endpoint: {
    env: 'SVC_S3_ENDPOINT',
    flag: 's3-endpoint',
    default: '',
    description:
      'Address of an S3-compatible store for the bytes of uploads, reachable by clients too, as in ' +
      'https://s3.eu-central-1.amazonaws.com; without it, they are stored in the data directory.',
  },
  s3Bucket: {
    env: 'SVC_S3_BUCKET',
    flag: 's3-bucket',
    default: '',
    description: 'Bucket in that store; the hub does not create it.',
  },
  s3Region: {
    env: 'SVC_S3_REGION',
    flag: 's3-region',
    default: 'us-east-1',
    description: 'Region that requests to the store are signed for.',
  },
  s3AccessKeyId: {
    env: 'SVC_S3_ACCESS_KEY_ID',
    flag: 's3-access-key-id',
    default: '',
    description: 'Key that may get, put and delete objects of the bucket.',
  },
  s3SecretAccessKey: {
    env: 'SVC_S3_SECRET_ACCESS_KEY',
    flag: 's3-secret-access-key',
    default: '',
    description: 'The secret of that key.',
    secret: true,
  },
  s3ForcePathStyle: {
    env: 'SVC_S3_FORCE_PATH_STYLE',
    flag: 's3-force-path-style',
    default: 'false',
    description: 'true: the bucket is part of the path of addresses, not of the host name.',
  },
  integrationSecrets: {
    env: 'SVC_INTEGRATION_EVENT_SECRET',
    flag: 'integration-event-secret',
    default: '',
    description:
      'Shared secret of systems that send events; two, separated by a comma, during a rotation. ' +
      'Without it every event is refused.',
    secret: true,
  },
  chatSecrets: {
    env: 'SVC_CHAT_SIGNING_SECRET',
    flag: 'chat-signing-secret',
    default: '',
    description:
      'Signing secret of the team chat’s app (Slack); two, separated by a comma, during a ' +
      'rotation. Without it every chat event is refused.',
    secret: true,
  },
  archiveJobs: {
    env: 'SVC_ARCHIVE_JOBS',
    flag: 'archive-jobs',
    default: 'true',
    description:
      'true: jobs past the retention of their workspace are written to archive files before they ' +
      'are deleted: in the data directory, or in the S3 store if one is set; false: they are only ' +
      'deleted.',
  },
  logLevel: {
    env: 'SVC_LOG_LEVEL',
    flag: 'log-level',
    default: 'warn',
    description: 'fatal, error, warn, info, debug, trace or silent; logs are JSON on stderr.',
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof settings;

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

const PORT_MAX = 65_535;
/** One connection each for reads, for exclusive writes and for concurrent writes. */
const SESSIONS_MIN = 3;
const SESSIONS_MAX = 200;
export const SECRET_KEY_BYTES = 32;
const GLOBAL_TOKEN_CHARS_MIN = 20;
const SECRETS_MAX = 2;
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

export interface Config {
  host: string;
  port: number;
  /** Without a trailing slash; null: derived from the address that the hub listens on. */
  baseUrl: string | null;
  dataDir: string;
  /** postgres://…; null: SQLite in the data directory. */
  databaseUrl: string | null;
  /** The maximum number of connections to PostgreSQL. */
  databaseSessions: number;
  /** Whether the database is behind a pooler in transaction mode. */
  databasePooled: boolean;
  /** Null: the key in the data directory. */
  secretKey: Buffer | null;
  devAllowUnauth: boolean;
  globalToken: string | null;
  allowGlobalToken: boolean;
  allowPrivateHosts: PrivateHosts;
  /** Null: the bytes of uploads are stored in the data directory. */
  s3: S3Config | null;
  /** A request is accepted with any of them. If empty, all events are refused. */
  integrationSecrets: readonly string[];
  chatSecrets: readonly string[];
  /** Whether jobs past retention are archived in files before they are deleted. */
  archiveJobs: boolean;
  logLevel: LogLevel;
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

/** An invalid setting. The message is complete; it needs no stack trace. */
export class SettingError extends Error {}

/**
 * Reads all settings. Flags override the environment.
 *
 * @param flags values by setting, as the CLI read them.
 * @throws SettingError one sentence with the setting, its value and the valid values.
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  flags: Partial<Record<SettingName, string>> = {},
): Config {
  const read = (name: SettingName): string => {
    const value = flags[name] ?? env[settings[name].env];
    return value === undefined || value === '' ? settings[name].default : value;
  };
  const config: Config = {
    host: read('host'),
    port: readPort(read('port')),
    baseUrl: readBaseUrl(read('baseUrl')),
    dataDir: read('dataDir'),
    databaseUrl: readDatabaseUrl(read('databaseUrl')),
    databaseSessions: readSessions(read('databaseSessions')),
    databasePooled: readFlag('databasePooled', read('databasePooled')),
    secretKey: readSecretKey(read('secretKey')),
    devAllowUnauth: readFlag('devAllowUnauth', read('devAllowUnauth')),
    globalToken: read('globalToken') || null,
    allowGlobalToken: readFlag('allowGlobalToken', read('allowGlobalToken')),
    allowPrivateHosts: readPrivateHosts(read('allowPrivateHosts')),
    s3: readS3(read),
    integrationSecrets: readSecrets('integrationSecrets', read('integrationSecrets')),
    chatSecrets: readSecrets('chatSecrets', read('chatSecrets')),
    archiveJobs: readFlag('archiveJobs', read('archiveJobs')),
    logLevel: readLogLevel(read('logLevel')),
  };
  checkTogether(config);
  return config;
}

/** Names of environment variables that look like settings but are not, such as typing errors. */
export function findUnknownSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = new Set<string>(Object.values(settings).map((setting) => setting.env));
  return Object.keys(env).filter((name) => name.startsWith('SVC_') && !known.has(name));
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > PORT_MAX) {
    throw new SettingError(
      `SVC_PORT is "${text}": it must be a port number from 0 to ${PORT_MAX}.`,
    );
  }
  return port;
}

function readBaseUrl(text: string): string | null {
  if (text === '') return null;
  const origin = originOf(text);
  if (origin !== null) return origin;
  throw new SettingError(
    `SVC_BASE_URL is "${text}": it must be an address without a path, as in https://signalbox.acme.dev.`,
  );
}

/** The origin of a URL that consists of scheme, host and port only; null for other texts. */
function originOf(text: string): string | null {
  const url = URL.parse(text);
  const plain = url !== null && url.search === '' && url.hash === '' && url.username === '';
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  return plain && isHttp && url.pathname === '/' ? url.origin : null;
}

function readFlag(name: SettingName, text: string): boolean {
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw new SettingError(`${settings[name].env} is "${text}": it must be true or false.`);
}

function readPrivateHosts(text: string): PrivateHosts {
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

/** One secret, or the old and the new one during a rotation. The error omits the value. */
function readSecrets(name: SettingName, text: string): string[] {
  const secrets = text.split(',').map((secret) => secret.trim());
  if (secrets.length === 1 && secrets[0] === '') return [];
  if (secrets.length <= SECRETS_MAX && !secrets.includes('')) return secrets;
  throw new SettingError(`${settings[name].env} must be one secret, or two separated by a comma.`);
}

/** All of them or none: a hub with half of them would accept uploads that it cannot store. */
function readS3(read: (name: SettingName) => string): S3Config | null {
  const required = ['s3Endpoint', 's3Bucket', 's3AccessKeyId', 's3SecretAccessKey'] as const;
  const missing = required.filter((name) => read(name) === '');
  if (missing.length === required.length) return null;
  if (missing.length > 0) {
    const names = missing.map((name) => settings[name].env).join(' and ');
    throw new SettingError(
      `${names} must be set as well for an S3 store: set all of them or none.`,
    );
  }
  if (!BUCKET_NAME.test(read('s3Bucket'))) {
    throw new SettingError(
      `SVC_S3_BUCKET is "${read('s3Bucket')}": it must be 3 to 63 lower-case letters, digits, dots and dashes.`,
    );
  }
  return {
    endpoint: readEndpoint(read('s3Endpoint')),
    bucket: read('s3Bucket'),
    region: read('s3Region'),
    accessKeyId: read('s3AccessKeyId'),
    secretAccessKey: read('s3SecretAccessKey'),
    forcePathStyle: readFlag('s3ForcePathStyle', read('s3ForcePathStyle')),
  };
}

function readEndpoint(text: string): string {
  const origin = originOf(text);
  if (origin !== null) return origin;
  throw new SettingError(
    `SVC_S3_ENDPOINT is "${text}": it must be an address without a path, as in https://s3.eu-central-1.amazonaws.com.`,
  );
}

function readLogLevel(text: string): LogLevel {
  const level = logLevels.find((known) => known === text);
  if (level === undefined) {
    throw new SettingError(
      `SVC_LOG_LEVEL is "${text}": it must be one of ${logLevels.join(', ')}.`,
    );
  }
  return level;
}

function readDatabaseUrl(text: string): string | null {
  if (text === '') return null;
  const isAddress = /^postgres(ql)?:\/\//.test(text) && URL.canParse(text);
  if (isAddress) return text;
  // The value may contain a password, so the error omits it.
  throw new SettingError(
    'SVC_DATABASE_URL is not an address as in postgres://user:password@host:5432/database: ' +
      'correct it, or unset it to use SQLite in the data directory.',
  );
}

/** The error omits the value. */
function readSecretKey(text: string): Buffer | null {
  if (text === '') return null;
  const key = Buffer.from(text, 'base64');
  if (/^[A-Za-z0-9+/]{43}=$/.test(text) && key.length === SECRET_KEY_BYTES) return key;
  throw new SettingError(
    `SVC_SECRET_KEY must be ${SECRET_KEY_BYTES} bytes in base64: generate it with \`openssl rand -base64 32\`.`,
  );
}

function readSessions(text: string): number {
  const sessions = Number(text);
  if (/^\d{1,3}$/.test(text) && sessions >= SESSIONS_MIN && sessions <= SESSIONS_MAX) {
    return sessions;
  }
  throw new SettingError(
    `SVC_DATABASE_SESSIONS is "${text}": it must be a number from ${SESSIONS_MIN} to ${SESSIONS_MAX}.`,
  );
}

function checkTogether(config: Config): void {
  if (config.devAllowUnauth && !isLoopback(config.host)) {
    throw new SettingError(
      `SVC_DEV_ALLOW_UNAUTH is true while SVC_HOST is "${config.host}": ` +
        'anyone on the network could do anything. Set SVC_HOST to 127.0.0.1, or set it to false.',
    );
  }
  if (config.globalToken !== null && config.globalToken.length < GLOBAL_TOKEN_CHARS_MIN) {
    throw new SettingError(
      `SVC_CONTROL_PLANE_TOKEN is too short: it must have at least ${GLOBAL_TOKEN_CHARS_MIN} characters.`,
    );
  }
  if (config.allowGlobalToken && config.globalToken === null) {
    throw new SettingError(
      'SVC_CONTROL_PLANE_ALLOW_GLOBAL_TOKEN is true while SVC_CONTROL_PLANE_TOKEN is unset: set both or neither.',
    );
  }
}

/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

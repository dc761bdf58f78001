import {
  hasLoopbackHost,
  isLoopback,
  readBaseUrl,
  readBytes,
  readDatabaseUrl,
  readFlag,
  readIntegrationWorkspaces,
  readLogLevel,
  readPort,
  readPrivateHosts,
  readRate,
  readReplyMailbox,
  readS3,
  readSecretFile,
  readSecretKey,
  readSecrets,
  readSessions,
  readSlackApp,
  readSmtp,
  readTrustedProxies,
  readWorkspaceCreation,
  SettingError,
  userDataDir,
} from './setting-values.ts';

/**
 * A setting of the hub: its environment variable, flag, default and meaning. Settings are read
 * once, at the start. `npm run docs` writes the page of settings from the table below.
 */
export interface Setting {
  env: string;
  /** The name of the environment variable without SVC_. */
  flag: string;
  /** As a person would write it; empty without a default. */
  default: string;
  description: string;
  secret?: true;
}

interface SettingRow extends Omit<Setting, 'flag' | 'default'> {
  /** Absent: empty. */
  default?: string;
  /** Reads the text that a person wrote. Absent: the value is that text. @throws SettingError */
  read?: (text: string, env: string) => unknown;
}

const rows = {
  host: {
    env: 'SVC_HOST',
    default: '127.0.0.1',
    description: 'Address to listen on.',
  },
  port: {
    env: 'SVC_PORT',
    read: readPort,
    default: '4400',
    description: 'Port to listen on; 0 chooses a free one.',
  },
  /** Without a trailing slash; null: derived from the address that the hub listens on. */
  baseUrl: {
    env: 'SVC_BASE_URL',
    read: readBaseUrl,
    description:
      'Address under which people and agents reach the hub, as in https://signalbox.acme.dev; ' +
      'without it, the address it listens on.',
  },
  trustedProxies: {
    env: 'SVC_TRUSTED_PROXIES',
    read: readTrustedProxies,
    description:
      'Addresses and ranges of the proxies before the hub, separated by commas, as in 10.0.0.7, ' +
      'fd00::/8: the hub takes callers’ addresses from their X-Forwarded-For. Without it, ' +
      'the header is ignored.',
  },
  tokenRate: {
    env: 'SVC_LIMIT_TOKEN',
    read: readRate,
    default: '10000',
    description:
      'Units a second that one device or service token may use; an enqueue or a claim is 1 unit, ' +
      'a list 20, a context pack 100. A person at the console and the tool of a job have a ' +
      'tenth. 0: no limit.',
  },
  workspaceRate: {
    env: 'SVC_LIMIT_WORKSPACE',
    read: readRate,
    default: '20000',
    description: 'The same for all tokens of a workspace together.',
  },
  addressRate: {
    env: 'SVC_LIMIT_ADDRESS',
    read: readRate,
    default: '1000',
    description:
      'The same for requests without a valid token or session, by address; a refused token or ' +
      'session is 10 units.',
  },
  dataDir: {
    env: 'SVC_DATA_DIR',
    default: '~/.local/share/signalbox',
    description:
      'Directory of the database and the hub’s key; on a local disk. The default follows ' +
      'XDG_DATA_HOME.',
  },
  /** Null: SQLite in the data directory. */
  databaseUrl: {
    env: 'SVC_DATABASE_URL',
    read: readDatabaseUrl,
    description:
      'PostgreSQL 15 or newer, as in postgres://user:password@host:5432/signalbox; several hubs may ' +
      'share it. Without it, SQLite in the data directory.',
    secret: true,
  },
  databaseSessions: {
    env: 'SVC_DATABASE_SESSIONS',
    read: readSessions,
    default: '12',
    description: 'Maximum number of connections from this hub to PostgreSQL, 3 to 200.',
  },
  databasePooled: {
    env: 'SVC_DATABASE_POOLED',
    read: readFlag,
    default: 'false',
    description: 'true: SVC_DATABASE_URL is a pooler in transaction mode, such as PgBouncer.',
  },
  /** Null: the key in the data directory. */
  secretKey: {
    env: 'SVC_SECRET_KEY',
    read: readSecretKey,
    description:
      'The hub’s key, 32 random bytes in base64, the same for all hubs of a database; without it, ' +
      'the file secret.key in the data directory, which the first start creates.',
    secret: true,
  },
  devAllowUnauth: {
    env: 'SVC_DEV_ALLOW_UNAUTH',
    read: readFlag,
    default: 'false',
    description:
      'true: requests without a token act as the development principal; on loopback addresses only.',
  },
  globalToken: {
    env: 'SVC_CONTROL_PLANE_TOKEN',
    read: (text: string) => text || null,
    description: 'Legacy global token; rejected unless the next setting is true.',
    secret: true,
  },
  allowGlobalToken: {
    env: 'SVC_CONTROL_PLANE_ALLOW_GLOBAL_TOKEN',
    read: readFlag,
    default: 'false',
    description: 'true: the legacy global token is accepted.',
  },
  allowPrivateHosts: {
    env: 'SVC_ALLOW_PRIVATE_HOSTS',
    read: readPrivateHosts,
    description:
      'Hosts in private networks that the hub may call, such as a mail server: names, addresses ' +
      'and ranges, separated by commas, as in mail.acme.lan, 10.0.0.0/8; or true for all.',
  },
  smtpUrl: {
    env: 'SVC_SMTP_URL',
    description:
      'Mail server for notifications, as in smtps://user:password@mail.acme.dev:465, or ' +
      'smtp://mail.acme.dev:587, where STARTTLS is required unless the host is this machine. ' +
      'Without it and the next setting, no person is told by mail.',
    secret: true,
  },
  mailFrom: {
    env: 'SVC_MAIL_FROM',
    description: 'Address that these mails come from, as in signalbox@acme.dev.',
  },
  imapUrl: {
    env: 'SVC_IMAP_URL',
    description:
      'Mailbox of that address, for the hub alone, as in imaps://user:password@mail.acme.dev/INBOX: ' +
      'replies to mails about questions answer them. imap: as for smtp. Without it and the next ' +
      'setting, no reply is read.',
    secret: true,
  },
  mailAuthId: {
    env: 'SVC_MAIL_AUTH_ID',
    description:
      'The name with which the server of the mailbox begins Authentication-Results (RFC 8601), as ' +
      'in mx.acme.dev. It must remove such headers that come from outside.',
  },
  slackBotToken: {
    env: 'SVC_SLACK_BOT_TOKEN',
    description:
      'Bot token of the hub’s app in Slack (xoxb-…), which sends people direct messages. With it ' +
      'goes one of the next two settings.',
    secret: true,
  },
  slackAppToken: {
    env: 'SVC_SLACK_APP_TOKEN',
    description:
      'App-level token (xapp-…) with the scope connections:write, for Socket Mode: the hub ' +
      'connects to Slack, so it needs no public address.',
    secret: true,
  },
  slackSigningSecret: {
    env: 'SVC_SLACK_SIGNING_SECRET',
    read: readSecrets,
    description:
      'Signing secret of the app, when Slack sends to the hub instead, at /slack/interactions and ' +
      '/slack/commands; two, separated by a comma, during a rotation.',
    secret: true,
  },
  slackApiUrl: {
    env: 'SVC_SLACK_API_URL',
    default: 'https://slack.com/api/',
    description: 'Address of Slack’s Web API; GovSlack has https://slack-gov.com/api/.',
  },
  s3Endpoint: {
    env: 'SVC_S3_ENDPOINT',
    description:
      'Address of an S3-compatible store for the bytes of uploads, reachable by clients too, as in ' +
      'https://s3.eu-central-1.amazonaws.com; without it, they are stored in the data directory.',
  },
  s3Bucket: {
    env: 'SVC_S3_BUCKET',
    description: 'Bucket in that store; the hub does not create it.',
  },
  s3Region: {
    env: 'SVC_S3_REGION',
    default: 'us-east-1',
    description: 'Region that requests to the store are signed for.',
  },
  s3AccessKeyId: {
    env: 'SVC_S3_ACCESS_KEY_ID',
    description: 'Key that may get, put and delete objects of the bucket.',
  },
  s3SecretAccessKey: {
    env: 'SVC_S3_SECRET_ACCESS_KEY',
    description: 'The secret of that key.',
    secret: true,
  },
  s3ForcePathStyle: {
    env: 'SVC_S3_FORCE_PATH_STYLE',
    read: readFlag,
    default: 'false',
    description: 'true: the bucket is part of the path of addresses, not of the host name.',
  },
  uploadWorkspaceBytes: {
    env: 'SVC_UPLOAD_WORKSPACE_MAX',
    read: readBytes,
    default: '10 GB',
    description: 'How much the uploads of a workspace may have together, in MB or GB.',
  },
  uploadJobBytes: {
    env: 'SVC_UPLOAD_JOB_MAX',
    read: readBytes,
    default: '1 GB',
    description: 'How much the uploads that the tool of a job creates may have together.',
  },
  diskReserveBytes: {
    env: 'SVC_DISK_RESERVE',
    read: readBytes,
    default: '512 MB',
    description:
      'Free space on the disk of the data directory that is kept for the database: uploads that ' +
      'would use it are refused.',
  },
  /** A request is accepted with any of them. */
  integrationSecrets: {
    env: 'SVC_INTEGRATION_EVENT_SECRET',
    read: readSecrets,
    description:
      'Shared secret of systems that send events; two, separated by a comma, during a rotation. ' +
      'Owners and admins mint secrets of their workspace alone at the console.',
    secret: true,
  },
  integrationWorkspaces: {
    env: 'SVC_INTEGRATION_EVENT_WORKSPACES',
    read: readIntegrationWorkspaces,
    default: 'operator',
    description:
      'The workspaces that this secret opens: operator, those that people did not create at the ' +
      'console; all; or slugs, separated by commas.',
  },
  chatSecrets: {
    env: 'SVC_CHAT_SIGNING_SECRET',
    read: readSecrets,
    description:
      'Signing secret of the team chat’s app (Slack); two, separated by a comma, during a ' +
      'rotation. Without it every chat event is refused.',
    secret: true,
  },
  workspaceCreation: {
    env: 'SVC_WORKSPACE_CREATION',
    read: readWorkspaceCreation,
    default: 'admins',
    description:
      'Who may create workspaces at the console: admins, the owners and admins of an existing ' +
      'workspace; everyone who is signed in; or operator, by `signalbox admin workspace create` only.',
  },
  archiveJobs: {
    env: 'SVC_ARCHIVE_JOBS',
    read: readFlag,
    default: 'true',
    description:
      'true: jobs past the retention of their workspace are written to archive files before they ' +
      'are deleted: in the data directory, or in the S3 store if one is set; false: they are only ' +
      'deleted.',
  },
  logLevel: {
    env: 'SVC_LOG_LEVEL',
    read: readLogLevel,
    default: 'warn',
    description:
      'fatal, error, warn, info, debug, trace or silent; logs are JSON on stderr. From info on, each ' +
      'request has a line.',
  },
} as const satisfies Record<string, SettingRow>;

export type SettingName = keyof typeof rows;

export const settings = Object.fromEntries(
  Object.entries<SettingRow>(rows).map(([name, { read: _read, ...row }]) => {
    const flag = row.env.replace('SVC_', '').replaceAll('_', '-').toLowerCase();
    return [name, { default: '', ...row, flag }];
  }),
  // `fromEntries` forgets the names.
) as Record<SettingName, Setting>;

/** A secret may be in a file that this variable names: environments and flags show in `ps`. */
export const FILE_SUFFIX = '_FILE';
const GLOBAL_TOKEN_CHARS_MIN = 20;

type SettingValues = {
  readonly [Name in SettingName]: (typeof rows)[Name] extends {
    read(...text: string[]): infer Value;
  }
    ? Value
    : string;
};

export type Config = Readonly<ReturnType<typeof combine>>;

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
  const textOf = (name: SettingName): string => {
    const setting = settings[name];
    const value = flags[name] ?? env[setting.env] ?? '';
    const file = setting.secret === true ? (env[setting.env + FILE_SUFFIX] ?? '') : '';
    if (file === '') return value === '' ? setting.default : value;
    if (value === '') return readSecretFile(setting.env + FILE_SUFFIX, file);
    throw new SettingError(
      `${setting.env} and ${setting.env}${FILE_SUFFIX} are both set: unset one of them.`,
    );
  };
  const entries = Object.entries<SettingRow>(rows).map(([name, row]) => {
    const text = textOf(name as SettingName);
    return [name, row.read === undefined ? text : row.read(text, row.env)];
  });
  const givenDataDir = flags.dataDir || env[settings.dataDir.env] || null;
  const place = {
    dataDir: givenDataDir ?? userDataDir(env),
    /** Whether no setting names the data directory, so that it is that of the user. */
    isDataDirDefault: givenDataDir === null,
  };
  const config = combine(Object.fromEntries(entries) as SettingValues, place);
  checkTogether(config);
  return config;
}

/** Makes one value of the settings that belong together. */
function combine(values: SettingValues, place: { dataDir: string; isDataDirDefault: boolean }) {
  const {
    smtpUrl,
    mailFrom,
    imapUrl,
    mailAuthId,
    slackBotToken: botToken,
    slackAppToken: appToken,
    slackSigningSecret: signingSecrets,
    slackApiUrl: apiUrl,
    s3Endpoint: endpoint,
    s3Bucket: bucket,
    s3Region: region,
    s3AccessKeyId: accessKeyId,
    s3SecretAccessKey: secretAccessKey,
    s3ForcePathStyle: forcePathStyle,
    ...single
  } = values;
  const smtp = readSmtp(smtpUrl, mailFrom);
  return {
    ...single,
    ...place,
    /** Null: no person is told by mail. */
    smtp,
    /** Null: replies to mails are not read. */
    replyMailbox: readReplyMailbox(imapUrl, mailAuthId, smtp),
    /** Null: no person is told by an app of Slack. */
    slack: readSlackApp({ botToken, appToken, signingSecrets, apiUrl }),
    /** Null: the bytes of uploads are stored in the data directory. */
    s3: readS3({ endpoint, bucket, region, accessKeyId, secretAccessKey, forcePathStyle }),
  };
}

/** Names of environment variables that look like settings but are not, such as typing errors. */
export function findUnknownSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = new Set<string>();
  for (const setting of Object.values(settings)) {
    known.add(setting.env);
    if (setting.secret === true) known.add(setting.env + FILE_SUFFIX);
  }
  return Object.keys(env).filter((name) => name.startsWith('SVC_') && !known.has(name));
}

function checkTogether(config: Config): void {
  if (config.devAllowUnauth && !isLoopback(config.host)) {
    throw new SettingError(
      `SVC_DEV_ALLOW_UNAUTH is true while SVC_HOST is "${config.host}": ` +
        'anyone on the network could do anything. Set SVC_HOST to 127.0.0.1, or set it to false.',
    );
  }
  if (config.devAllowUnauth && config.baseUrl !== null && !hasLoopbackHost(config.baseUrl)) {
    throw new SettingError(
      `SVC_DEV_ALLOW_UNAUTH is true while SVC_BASE_URL is ${config.baseUrl}: anyone who reaches ` +
        'that address could do anything. Unset SVC_BASE_URL, or set SVC_DEV_ALLOW_UNAUTH to false.',
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

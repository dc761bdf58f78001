import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findUnknownSettings, readConfig, settings } from '../../src/start/config.ts';
import { makeTempDir } from '../support/temp-dir.ts';

test('without any setting the hub listens on loopback, port 4400, with data in the user’s directory', () => {
  assert.deepEqual(readConfig({ XDG_DATA_HOME: '/home/ada/share' }), {
    host: '127.0.0.1',
    port: 4400,
    baseUrl: null,
    trustedProxies: [],
    tokenRate: 10_000,
    workspaceRate: 20_000,
    addressRate: 1_000,
    dataDir: '/home/ada/share/signalbox',
    isDataDirDefault: true,
    databaseUrl: null,
    databaseSessions: 12,
    databasePooled: false,
    secretKey: null,
    devAllowUnauth: false,
    globalToken: null,
    allowGlobalToken: false,
    allowPrivateHosts: [],
    smtp: null,
    replyMailbox: null,
    slack: null,
    s3: null,
    uploadWorkspaceBytes: 10_000_000_000,
    uploadJobBytes: 1_000_000_000,
    diskReserveBytes: 512_000_000,
    integrationSecrets: [],
    integrationWorkspaces: 'operator',
    workspaceCreation: 'admins',
    chatSecrets: [],
    archiveJobs: true,
    logLevel: 'warn',
  });
});

test('a flag overrides the environment, and an empty value counts as unset', () => {
  const config = readConfig({ SVC_PORT: '5000', SVC_HOST: '' }, { port: '6000' });
  assert.equal(config.port, 6000);
  assert.equal(config.host, '127.0.0.1');
});

const s3 = {
  SVC_S3_ENDPOINT: 'https://s3.acme.dev',
  SVC_S3_BUCKET: 'acme-uploads',
  SVC_S3_ACCESS_KEY_ID: 'key',
  SVC_S3_SECRET_ACCESS_KEY: 'hunter2',
};

test('an object store needs its four settings together', () => {
  assert.deepEqual(readConfig({ ...s3, SVC_S3_FORCE_PATH_STYLE: 'true' }).s3, {
    endpoint: 'https://s3.acme.dev',
    bucket: 'acme-uploads',
    region: 'us-east-1',
    accessKeyId: 'key',
    secretAccessKey: 'hunter2',
    forcePathStyle: true,
  });
});

const mail = { SVC_SMTP_URL: 'smtps://mail.acme.dev', SVC_MAIL_FROM: 'signalbox@acme.dev' };

const replies = {
  ...mail,
  SVC_IMAP_URL: 'imaps://hub:p%2F1@mail.acme.dev/INBOX',
  SVC_MAIL_AUTH_ID: 'MX.acme.dev',
};
const slackBot = { SVC_SLACK_BOT_TOKEN: 'xoxb-1' };
const slack = { ...slackBot, SVC_SLACK_APP_TOKEN: 'xapp-1' };

const refused: [env: Record<string, string>, names: string][] = [
  [{ SVC_PORT: 'http' }, 'SVC_PORT is "http"'],
  [{ SVC_PORT: '65536' }, 'SVC_PORT is "65536"'],
  [{ SVC_PORT: '-1' }, 'SVC_PORT'],
  [{ SVC_PORT: '44e2' }, 'SVC_PORT'],
  [{ SVC_BASE_URL: 'signalbox.dev' }, 'SVC_BASE_URL is "signalbox.dev"'],
  [{ SVC_BASE_URL: 'ftp://signalbox.dev' }, 'SVC_BASE_URL'],
  [{ SVC_BASE_URL: 'https://signalbox.dev/path' }, 'SVC_BASE_URL'],
  [{ SVC_BASE_URL: 'https://user@signalbox.dev' }, 'SVC_BASE_URL'],
  [{ SVC_DEV_ALLOW_UNAUTH: 'yes' }, 'SVC_DEV_ALLOW_UNAUTH is "yes"'],
  [{ SVC_DEV_ALLOW_UNAUTH: 'true', SVC_HOST: '0.0.0.0' }, 'SVC_DEV_ALLOW_UNAUTH'],
  [{ SVC_DEV_ALLOW_UNAUTH: 'true', SVC_HOST: '127.example.com' }, 'SVC_DEV_ALLOW_UNAUTH'],
  [
    { SVC_DEV_ALLOW_UNAUTH: 'true', SVC_BASE_URL: 'https://signalbox.acme.dev' },
    'SVC_DEV_ALLOW_UNAUTH',
  ],
  [{ SVC_TRUSTED_PROXIES: 'proxy.acme.lan' }, 'SVC_TRUSTED_PROXIES'],
  [{ SVC_TRUSTED_PROXIES: '10.0.0.0/33' }, 'SVC_TRUSTED_PROXIES'],
  [{ SVC_LIMIT_TOKEN: '-1' }, 'SVC_LIMIT_TOKEN'],
  [{ SVC_LIMIT_WORKSPACE: 'many' }, 'SVC_LIMIT_WORKSPACE'],
  [{ SVC_LIMIT_ADDRESS: '1e3' }, 'SVC_LIMIT_ADDRESS'],
  [{ SVC_CONTROL_PLANE_TOKEN: 'short' }, 'SVC_CONTROL_PLANE_TOKEN'],
  [{ SVC_CONTROL_PLANE_ALLOW_GLOBAL_TOKEN: 'true' }, 'SVC_CONTROL_PLANE_ALLOW_GLOBAL_TOKEN'],
  [{ SVC_ALLOW_PRIVATE_HOSTS: '10.0.0.0/33' }, 'SVC_ALLOW_PRIVATE_HOSTS'],
  [{ SVC_ALLOW_PRIVATE_HOSTS: 'mail.lan,' }, 'SVC_ALLOW_PRIVATE_HOSTS'],
  [{ SVC_S3_ENDPOINT: 'https://s3.acme.dev' }, 'SVC_S3_BUCKET'],
  [{ SVC_S3_BUCKET: 'acme', SVC_S3_ENDPOINT: 'https://s3.acme.dev' }, 'SVC_S3_SECRET_ACCESS_KEY'],
  [{ ...s3, SVC_S3_ENDPOINT: 'https://s3.acme.dev/path' }, 'SVC_S3_ENDPOINT'],
  [{ ...s3, SVC_S3_BUCKET: 'Acme_Uploads' }, 'SVC_S3_BUCKET'],
  [{ ...s3, SVC_S3_FORCE_PATH_STYLE: '1' }, 'SVC_S3_FORCE_PATH_STYLE'],
  [{ SVC_SMTP_URL: 'smtps://mail.acme.dev' }, 'SVC_MAIL_FROM'],
  [{ SVC_MAIL_FROM: 'signalbox@acme.dev' }, 'SVC_SMTP_URL'],
  [{ ...mail, SVC_MAIL_FROM: 'Signalbox <signalbox@acme.dev>' }, 'SVC_MAIL_FROM is "Signalbox'],
  [{ ...mail, SVC_SMTP_URL: 'https://mail.acme.dev' }, 'SVC_SMTP_URL'],
  [{ ...mail, SVC_SMTP_URL: 'smtps://ada@mail.acme.dev' }, 'SVC_SMTP_URL'],
  [{ ...mail, SVC_SMTP_URL: 'smtps://ada:100%@mail.acme.dev' }, 'SVC_SMTP_URL'],
  [{ ...mail, SVC_SMTP_URL: 'smtp://mail.acme.dev/path' }, 'SVC_SMTP_URL'],
  [{ ...replies, SVC_MAIL_AUTH_ID: '' }, 'SVC_MAIL_AUTH_ID'],
  [{ ...replies, SVC_IMAP_URL: '' }, 'SVC_IMAP_URL'],
  [{ ...replies, SVC_SMTP_URL: '', SVC_MAIL_FROM: '' }, 'SVC_SMTP_URL'],
  [{ ...replies, SVC_MAIL_AUTH_ID: 'mx.acme.dev; dmarc=pass' }, 'SVC_MAIL_AUTH_ID is "mx'],
  [{ ...replies, SVC_IMAP_URL: 'imaps://mail.acme.dev/INBOX' }, 'SVC_IMAP_URL'],
  [{ ...replies, SVC_IMAP_URL: 'imaps://hub:secret@mail.acme.dev' }, 'SVC_IMAP_URL'],
  [{ ...replies, SVC_IMAP_URL: 'pops://hub:secret@mail.acme.dev/INBOX' }, 'SVC_IMAP_URL'],
  [slackBot, 'SVC_SLACK_APP_TOKEN or SVC_SLACK_SIGNING_SECRET'],
  [{ SVC_SLACK_APP_TOKEN: 'xapp-1' }, 'SVC_SLACK_BOT_TOKEN'],
  [{ ...slack, SVC_SLACK_BOT_TOKEN: 'xapp-1' }, 'SVC_SLACK_BOT_TOKEN must .* xoxb-'],
  [{ ...slack, SVC_SLACK_APP_TOKEN: 'xoxb-1' }, 'SVC_SLACK_APP_TOKEN must .* xapp-'],
  [{ ...slack, SVC_SLACK_API_URL: 'slack-gov.com/api' }, 'SVC_SLACK_API_URL is "slack-gov'],
  [{ SVC_LOG_LEVEL: 'loud' }, 'SVC_LOG_LEVEL is "loud"'],
  [{ SVC_DATABASE_URL: 'mysql://localhost' }, 'SVC_DATABASE_URL'],
];

for (const [env, names] of refused) {
  test(`refuses ${JSON.stringify(env)} in one sentence that names ${names}`, () => {
    assert.throws(
      () => readConfig(env),
      (error: Error) => {
        assert.match(error.message, new RegExp(names));
        assert.doesNotMatch(error.message, /\n/);
        return true;
      },
    );
  });
}

test('mail is encrypted, except to a server on this machine', () => {
  const smtpOf = (url: string) => readConfig({ ...mail, SVC_SMTP_URL: url }).smtp;
  const from = mail.SVC_MAIL_FROM;
  assert.deepEqual(smtpOf('smtps://ada%40acme.dev:p%2F1@mail.acme.dev'), {
    host: 'mail.acme.dev',
    port: 465,
    tls: 'tls',
    from,
    auth: { user: 'ada@acme.dev', pass: 'p/1' },
  });
  assert.deepEqual(smtpOf('smtp://mail.acme.dev:2525'), {
    host: 'mail.acme.dev',
    port: 2525,
    tls: 'starttls',
    from,
    auth: null,
  });
  assert.deepEqual(smtpOf('smtp://[::1]/'), {
    host: '::1',
    port: 587,
    tls: 'none',
    from,
    auth: null,
  });
});

test('the mailbox of replies has a server, an account, a folder and the name that it trusts', () => {
  const mailboxOf = (url: string) => readConfig({ ...replies, SVC_IMAP_URL: url }).replyMailbox;
  const authServId = 'mx.acme.dev';
  assert.deepEqual(mailboxOf(replies.SVC_IMAP_URL), {
    host: 'mail.acme.dev',
    port: 993,
    tls: 'tls',
    mailbox: 'INBOX',
    authServId,
    auth: { user: 'hub', pass: 'p/1' },
  });
  assert.deepEqual(mailboxOf('imap://hub:1@[::1]:1143/Replies%20here'), {
    host: '::1',
    port: 1_143,
    tls: 'none',
    mailbox: 'Replies here',
    authServId,
    auth: { user: 'hub', pass: '1' },
  });
  assert.throws(
    () => mailboxOf('imaps://hub:hunter2@mail.acme.dev'),
    (error: Error) => !error.message.includes('hunter2'),
  );
});

test('an error message does not contain the password of a database address', () => {
  assert.throws(
    () => readConfig({ SVC_DATABASE_URL: 'mysql://user:hunter2@db/signalbox' }),
    (error: Error) => !error.message.includes('hunter2'),
  );
});

test('the number of database connections must be one that a hub can work with', () => {
  assert.equal(readConfig({ SVC_DATABASE_SESSIONS: '40' }).databaseSessions, 40);
  for (const text of ['2', '201', 'many', '1e1']) {
    assert.throws(() => readConfig({ SVC_DATABASE_SESSIONS: text }), /from 3 to 200/);
  }
});

test('unknown names that look like settings are found', () => {
  assert.deepEqual(findUnknownSettings({ SVC_PROT: '1', SVC_PORT: '1', PATH: '' }), ['SVC_PROT']);
});

test('every setting has its own flag, environment name and description', () => {
  const rows = Object.values(settings);
  assert.equal(new Set(rows.map((row) => row.env)).size, rows.length);
  assert.equal(new Set(rows.map((row) => row.flag)).size, rows.length);
  for (const row of rows) assert.ok(row.description.length > 10, row.env);
});

test('private hosts are allowed one by one, or all', () => {
  const read = (value: string) => readConfig({ SVC_ALLOW_PRIVATE_HOSTS: value }).allowPrivateHosts;
  assert.equal(read('true'), 'all');
  assert.deepEqual(read('false'), []);
  assert.deepEqual(read('mail.lan, 10.0.0.0/8,::1'), ['mail.lan', '10.0.0.0/8', '::1']);
});

test('requests without a token may be allowed under a loopback base URL', () => {
  for (const baseUrl of ['http://127.0.0.1:4400', 'http://localhost:4400', 'http://[::1]:4400']) {
    readConfig({ SVC_DEV_ALLOW_UNAUTH: 'true', SVC_BASE_URL: baseUrl });
  }
});

test('a secret may be in a file, and only there', (t) => {
  const file = join(makeTempDir(t), 'secret');
  const env = { SVC_CONTROL_PLANE_TOKEN_FILE: file };
  assert.throws(() => readConfig(env), /SVC_CONTROL_PLANE_TOKEN_FILE names a file that cannot be/);
  writeFileSync(file, '\n');
  assert.throws(() => readConfig(env), /is empty/);
  writeFileSync(file, 'a-token-of-thirty-characters-xx\n');
  assert.equal(readConfig(env).globalToken, 'a-token-of-thirty-characters-xx');
  assert.throws(
    () => readConfig({ ...env, SVC_CONTROL_PLANE_TOKEN: 'another-token-of-30-characters' }),
    (error: Error) => /are both set/.test(error.message) && !error.message.includes('another'),
  );
  assert.equal(readConfig({ SVC_PORT_FILE: file }).port, 4400);
  assert.deepEqual(findUnknownSettings({ ...env, SVC_PORT_FILE: file }), ['SVC_PORT_FILE']);
});

test('a socket directory may name the server, as for libpq', () => {
  const url = 'postgres://signalbox@/signalbox?host=/run/postgresql';
  assert.equal(readConfig({ SVC_DATABASE_URL: url }).databaseUrl, url);
});

test('a size is a number of megabytes or gigabytes', () => {
  const read = (text: string) => readConfig({ SVC_DISK_RESERVE: text }).diskReserveBytes;
  assert.deepEqual([read('0 MB'), read('2GB')], [0, 2_000_000_000]);
  for (const text of ['512', '1 TB', '-1 MB', '1.5 GB', 'MB']) {
    assert.throws(() => read(text), /SVC_DISK_RESERVE is .* as in 512 MB or 10 GB/);
  }
});

test('an app of Slack has Socket Mode or a signing secret, and may be of GovSlack', () => {
  const gov = { ...slackBot, SVC_SLACK_API_URL: 'https://slack-gov.com/api' };
  const { slack: signed } = readConfig({ ...gov, SVC_SLACK_SIGNING_SECRET: 'old,new' });
  assert.deepEqual(signed, {
    botToken: 'xoxb-1',
    appToken: null,
    signingSecrets: ['old', 'new'],
    apiUrl: 'https://slack-gov.com/api/',
  });
  const { slack: connected } = readConfig(slack);
  assert.deepEqual(connected, {
    botToken: 'xoxb-1',
    appToken: 'xapp-1',
    signingSecrets: [],
    apiUrl: 'https://slack.com/api/',
  });
});

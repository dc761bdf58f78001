import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findFreePort } from '@signalbox/local-postgres';

/** A real IMAP server on loopback, with one person's inbox. */
export interface MailServer {
  readonly host: string;
  /** TLS from the first byte. */
  readonly port: number;
  /** PEM of its own certificate, for its host. */
  readonly certificate: string;
  readonly userName: string;
  readonly password: string;
  stop(): Promise<void>;
}

export interface Mail {
  id: string;
  from: string;
  subject: string;
  text: string;
  /** The messages before it in its thread, oldest first. */
  references?: readonly string[];
}

interface Account {
  uid: number;
  gid: number;
  name: string;
  group: string;
}

/** Debian puts it where only root looks. */
const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin` };
const user = { name: 'ada', password: 'correct horse' };

/** Why scenarios with mail are skipped; false when they run. */
export const mailServerMissing = findServerFault();

function findServerFault(): string | false {
  try {
    const version = execFileSync('dovecot', ['--version'], { encoding: 'utf8', env });
    return version.startsWith('2.3.') ? false : `dovecot is ${version.trim()}, not 2.3`;
  } catch {
    return 'dovecot is not installed (apt-get install dovecot-imapd)';
  }
}

/** Starts a server below a folder, its inbox holding these messages in this order. */
export async function startMailServer(
  folder: string,
  messages: readonly Mail[],
): Promise<MailServer> {
  const account = findAccount();
  for (const part of ['cur', 'new', 'tmp']) {
    mkdirSync(join(folder, 'mail', user.name, part), { recursive: true });
  }
  for (const [index, message] of messages.entries()) {
    const path = join(folder, 'mail', user.name, 'new', `${index}.e2e`);
    writeFileSync(path, formatMail(message));
    // A maildir takes this as the time of arrival, in seconds.
    utimesSync(path, 1_793_600_000 + index, 1_793_600_000 + index);
  }
  makeCertificate(folder);
  const port = await findFreePort();
  writeFileSync(join(folder, 'users'), `${user.name}:{PLAIN}${user.password}\n`);
  writeFileSync(join(folder, 'dovecot.conf'), configure(folder, account, port));
  chmodSync(folder, 0o755);
  const server = await runServer(folder, account);
  return {
    host: 'localhost',
    port,
    certificate: readFileSync(join(folder, 'cert.pem'), 'utf8'),
    userName: user.name,
    password: user.password,
    stop: () => stopServer(server),
  };
}

function formatMail({ id, from, subject, text, references = [] }: Mail): string {
  const replyTo = references.at(-1);
  return [
    `From: ${from}`,
    'To: team@acme.example',
    `Subject: ${subject}`,
    'Date: Mon, 02 Nov 2026 10:00:00 +0100',
    `Message-ID: <${id}>`,
    ...(replyTo === undefined ? [] : [`In-Reply-To: <${replyTo}>`]),
    ...(replyTo === undefined
      ? []
      : [`References: ${references.map((each) => `<${each}>`).join(' ')}`]),
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    text,
    '',
  ].join('\r\n');
}

/** Dovecot refuses to serve mail as root, so then it runs as the user that may do nothing. */
function findAccount(): Account {
  if (process.getuid?.() === 0) {
    return { uid: 65_534, gid: 65_534, name: 'nobody', group: 'nogroup' };
  }
  const { uid, gid, username } = userInfo();
  const group = execFileSync('id', ['-gn'], { encoding: 'utf8' }).trim();
  return { uid, gid, name: username, group };
}

function makeCertificate(folder: string): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...key, ...files, ...name], { stdio: 'ignore' });
}

function configure(folder: string, { uid, gid, name, group }: Account, port: number): string {
  return `
base_dir = ${folder}/run
state_dir = ${folder}/run
log_path = /dev/stderr
protocols = imap
listen = 127.0.0.1
default_internal_user = ${name}
default_internal_group = ${group}
default_login_user = ${name}
first_valid_uid = 1
ssl = required
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
mail_location = maildir:${folder}/mail/%u
passdb {
  driver = passwd-file
  args = ${folder}/users
}
userdb {
  driver = static
  args = uid=${uid} gid=${gid} home=${folder}/mail/%u
}
service imap-login {
  chroot =
  inet_listener imap {
    port = 0
  }
  inet_listener imaps {
    port = ${port}
    ssl = yes
  }
}
service anvil {
  chroot =
}
service stats {
  chroot =
}
`;
}

async function runServer(folder: string, { uid, gid }: Account): Promise<ChildProcess> {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) execFileSync('chown', ['-R', `${uid}:${gid}`, folder]);
  const server = spawn('dovecot', ['-F', '-c', join(folder, 'dovecot.conf')], {
    ...(isRoot ? { uid, gid } : {}),
    env,
    // A group of its own, so that its children can be ended with it: it waits long for them.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const log: string[] = [];
  for await (const line of createInterface({ input: server.stderr })) {
    log.push(line);
    if (line.includes('starting up')) {
      // Its further output is read only to keep the pipe from filling.
      server.stderr.resume();
      return server;
    }
  }
  throw new Error(`dovecot did not start:\n${log.join('\n')}`);
}

async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.pid === undefined) return;
  const ended = once(server, 'exit');
  process.kill(-server.pid, 'SIGTERM');
  await ended;
}

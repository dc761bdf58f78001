import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { findFreePorts } from '@signalbox/local-postgres';
import { makeTempDir } from './temp-dir.ts';

/** A real IMAP server on loopback, with one user and maildirs of its own. */
export interface Dovecot {
  port: number;
  tlsPort: number;
  /** PEM of its own certificate, for the name localhost. */
  certificate: string;
  user: string;
  password: string;
  /** Puts a message into a mailbox; a server sees it the next time that it looks. */
  deliver(message: Uint8Array | string, options?: { mailbox?: 'INBOX' | 'Sent' }): string;
  /** The folder of unread messages. */
  newDir: string;
  /** The same server for another user: it takes a second to start. */
  addUser(name: string): Dovecot;
}

/** Dovecot refuses to serve mail as root, so then it runs as the user that may do nothing. */
const UNPRIVILEGED = { uid: 65_534, gid: 65_534, name: 'nobody', group: 'nogroup' };

/** Debian puts it where only root looks. */
const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin` };

/** Why no server can be started here; undefined when one can. */
export function whyNoDovecot(): string | undefined {
  try {
    const version = execFileSync('dovecot', ['--version'], { encoding: 'utf8', env });
    return version.startsWith('2.3.') ? undefined : `dovecot is ${version.trim()}, not 2.3`;
  } catch {
    return 'dovecot is not installed (apt-get install dovecot-imapd)';
  }
}

/** Starts a server in the foreground; it ends with the test. */
export async function startDovecot(t: Pick<TestContext, 'after'>): Promise<Dovecot> {
  const dir = makeTempDir(t);
  const account = findAccount();
  const [port = 0, tlsPort = 0] = await findFreePorts(2);
  makeCertificate(dir);
  writeFileSync(join(dir, 'dovecot.conf'), configure(dir, account, port, tlsPort));
  chmodSync(dir, 0o755);
  const certificate = readFileSync(join(dir, 'cert.pem'), 'utf8');
  const addUser = (user: string): Dovecot => {
    const password = 'correct horse';
    appendFileSync(join(dir, 'users'), `${user}:{PLAIN}${password}\n`);
    const server = { port, tlsPort, certificate, user, password, addUser };
    return { ...server, ...openMailbox(join(dir, 'mail', user), account) };
  };
  const first = addUser('ada');
  handOver(dir, account);
  await run(t, join(dir, 'dovecot.conf'), account);
  return first;
}

type Account = typeof UNPRIVILEGED;

function openMailbox(maildir: string, account: Account): Pick<Dovecot, 'newDir' | 'deliver'> {
  for (const folder of [maildir, join(maildir, '.Sent')]) {
    for (const part of ['cur', 'new', 'tmp']) mkdirSync(join(folder, part), { recursive: true });
  }
  handOver(maildir, account);
  let delivered = 0;
  return {
    newDir: join(maildir, 'new'),
    deliver(message, { mailbox = 'INBOX' } = {}) {
      delivered += 1;
      const folder = mailbox === 'INBOX' ? maildir : join(maildir, `.${mailbox}`);
      const receivedAtS = 1_700_000_000 + delivered;
      const name = `${receivedAtS}.${delivered}.test`;
      const path = join(folder, 'new', name);
      writeFileSync(path, message);
      // A maildir takes this as the time of arrival; one second apart, so the order is defined.
      utimesSync(path, receivedAtS, receivedAtS);
      if (process.getuid?.() === 0) chownSync(path, account.uid, account.gid);
      return name;
    },
  };
}

function findAccount(): Account {
  if (process.getuid?.() === 0) return UNPRIVILEGED;
  const { uid, gid, username } = userInfo();
  const group = execFileSync('id', ['-gn'], { encoding: 'utf8' }).trim();
  return { uid, gid, name: username, group };
}

function handOver(dir: string, { uid, gid }: Account): void {
  if (process.getuid?.() !== 0) return;
  execFileSync('chown', ['-R', `${uid}:${gid}`, dir]);
}

function makeCertificate(dir: string): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const files = ['-keyout', join(dir, 'key.pem'), '-out', join(dir, 'cert.pem')];
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...key, ...files, ...name], { stdio: 'ignore' });
}

function configure(dir: string, account: Account, port: number, tlsPort: number): string {
  return `
base_dir = ${dir}/run
state_dir = ${dir}/run
log_path = /dev/stderr
protocols = imap
listen = 127.0.0.1
default_internal_user = ${account.name}
default_internal_group = ${account.group}
default_login_user = ${account.name}
first_valid_uid = 1
ssl = yes
ssl_cert = <${dir}/cert.pem
ssl_key = <${dir}/key.pem
disable_plaintext_auth = no
auth_failure_delay = 0
mail_location = maildir:${dir}/mail/%u
passdb {
  driver = passwd-file
  args = ${dir}/users
}
userdb {
  driver = static
  args = uid=${account.uid} gid=${account.gid} home=${dir}/mail/%u
}
namespace inbox {
  inbox = yes
  mailbox Sent {
    special_use = \\Sent
  }
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = ${tlsPort}
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

async function run(
  t: Pick<TestContext, 'after'>,
  config: string,
  { uid, gid }: Account,
): Promise<void> {
  const asOther = process.getuid?.() === 0 ? { uid, gid } : {};
  const server = spawn('dovecot', ['-F', '-c', config], {
    ...asOther,
    env,
    // A group of its own, so that its children can be ended with it: it waits long for them.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(server, 'exit');
  t.after(async () => {
    if (server.exitCode === null && server.pid !== undefined) process.kill(-server.pid, 'SIGTERM');
    await ended;
  });
  const log: string[] = [];
  for await (const line of createInterface({ input: server.stderr })) {
    log.push(line);
    if (line.includes('starting up')) {
      // Its further output is read only to keep the pipe from filling.
      server.stderr.resume();
      return;
    }
  }
  throw new Error(`dovecot did not start:\n${log.join('\n')}`);
}

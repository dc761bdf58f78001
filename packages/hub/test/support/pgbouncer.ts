import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { findFreePort } from '@signalbox/local-postgres';
import { makeTempDir } from './temp-dir.ts';

/** Debian puts it where only root looks. */
const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin` };
/** Server connections of a database: fewer than two hubs have of their own. */
const POOL_SIZE = 6;

/** Why no pooler can be started here; undefined when one can. */
export function whyNoPgbouncer(): string | undefined {
  try {
    execFileSync('pgbouncer', ['--version'], { env });
    return undefined;
  } catch {
    return 'pgbouncer is not installed (apt-get install pgbouncer)';
  }
}

/**
 * Starts a real PgBouncer in transaction mode before a database; it ends with the test.
 *
 * @returns the database's address through it.
 */
export async function startPgbouncer(
  t: Pick<TestContext, 'after'>,
  databaseUrl: string,
): Promise<string> {
  const { hostname, port: databasePort, username, password, pathname } = new URL(databaseUrl);
  const dir = makeTempDir(t);
  const port = await findFreePort();
  const users = join(dir, 'users.txt');
  writeFileSync(users, `"${username}" "${decodeURIComponent(password)}"\n`);
  const file = join(dir, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${databasePort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${POOL_SIZE}
`,
  );
  // It refuses to run as root.
  const unprivileged = findUnprivileged();
  if (unprivileged !== null) {
    chmodSync(dir, 0o755);
    for (const path of [users, file]) chownSync(path, unprivileged.uid, unprivileged.gid);
  }
  const child = spawn('pgbouncer', [file], {
    ...(unprivileged ?? {}),
    env,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line);
    if (!line.includes('process up')) continue;
    child.stderr.resume();
    const url = new URL(databaseUrl);
    url.port = String(port);
    url.pathname = pathname;
    return url.href;
  }
  throw new Error(`pgbouncer did not start:\n${lines.join('\n')}`);
}

function findUnprivileged(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const [, uid, gid] =
    /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  if (uid === undefined) throw new Error('this machine has no user "nobody"');
  return { uid: Number(uid), gid: Number(gid) };
}

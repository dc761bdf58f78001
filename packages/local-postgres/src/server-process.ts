import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import {
  type KeeperOrder,
  passwordFileName,
  socketFolderName,
  superUser,
} from './keeper-protocol.ts';

/** How much of what PostgreSQL prints is kept, for when it fails. */
const outputMaxChars = 16_000;
/** A port that was free may be taken by somebody else before PostgreSQL gets it. */
const startsMax = 5;
/** An empty server starts within a second on an idle machine. */
const startMsMax = 60_000;

/** One PostgreSQL on files of its own: made, started once, stopped. */
export class ServerProcess {
  readonly #order: KeeperOrder;
  #child: ChildProcess | undefined;
  #output = '';
  #isStopped = false;

  constructor(order: KeeperOrder) {
    this.#order = order;
  }

  /** Makes the files of a new, empty server. */
  async create(): Promise<void> {
    const { folder, initdbArguments } = this.#order;
    const child = this.#spawn('initdb', [
      `--pgdata=${join(folder, 'data')}`,
      `--username=${superUser}`,
      `--pwfile=${join(folder, passwordFileName)}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--no-sync',
      '--no-instructions',
      ...initdbArguments,
    ]);
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`initdb failed:\n${this.#output}`);
  }

  /** Starts it and answers with its port once it takes connections. */
  async start(): Promise<number> {
    for (let starts = 1; ; starts += 1) {
      const port = await findFreePort();
      if (await this.#startOn(port)) return port;
      const isTaken = /Address already in use|could not bind/.test(this.#output);
      if (!isTaken || starts === startsMax) {
        throw new Error(`PostgreSQL did not start:\n${this.#output}`);
      }
    }
  }

  /** Resolves when the started server has ended, with the last that it printed. */
  async ended(): Promise<string> {
    const child = this.#child;
    if (child?.exitCode === null && child.signalCode === null) await once(child, 'close');
    return this.#output;
  }

  /**
   * Ends whatever runs. At once, without a last checkpoint, when the files are thrown away anyway.
   */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGQUIT');
    await closed;
  }

  async #startOn(port: number): Promise<boolean> {
    const { folder, settings } = this.#order;
    this.#output = '';
    const all = {
      ...settings,
      listen_addresses: '127.0.0.1',
      port: String(port),
      unix_socket_directories: join(folder, socketFolderName),
    };
    const child = this.#spawn('postgres', [
      '-D',
      join(folder, 'data'),
      ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ]);
    const ready = Promise.withResolvers<boolean>();
    child.stderr?.on('data', () => {
      if (this.#output.includes('database system is ready to accept')) ready.resolve(true);
    });
    child.once('close', () => ready.resolve(false));
    // It says neither for as long as nobody else could make sense of its state.
    const limit = setTimeout(() => child.kill('SIGQUIT'), startMsMax);
    return ready.promise.finally(() => clearTimeout(limit));
  }

  #spawn(program: string, args: readonly string[]): ChildProcess {
    if (this.#isStopped) throw new Error('the server is stopped');
    const { binaries, folder, user } = this.#order;
    const child = spawn(join(binaries, 'bin', program), args, {
      cwd: folder,
      env: cleanEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(user === null ? {} : { uid: user.userId, gid: user.groupId }),
    });
    this.#child = child;
    child.once('error', (error) => {
      this.#output += `${program}: ${error.message}\n`;
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-outputMaxChars);
      });
    }
    return child;
  }
}

/** Without a developer's own settings of PostgreSQL, and with messages in English. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(PG[A-Z]|LC_|LANG)/;
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: 'C' };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}

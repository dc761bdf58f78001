import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { findFreePort } from './free-ports.ts';
import {
  type EndSignal,
  type KeeperOrder,
  passwordFileName,
  socketFolderName,
  superUser,
} from './keeper-protocol.ts';

/** Characters kept of PostgreSQL's output, for errors. */
const outputMaxChars = 16_000;
/** Another process may take a free port before PostgreSQL does. */
const startsMax = 5;
/** An empty server starts within a second on an idle machine. */
const startMsMax = 60_000;

/** A PostgreSQL server with its own files: creates, starts, ends, restarts and stops it. */
export class ServerProcess {
  /** Set after the first start. */
  port = 0;
  readonly #order: KeeperOrder;
  readonly #ended = Promise.withResolvers<string>();
  #child: ChildProcess | undefined;
  #output = '';
  /** The current end was requested. */
  #isEndRequested = false;
  #isStopped = false;

  constructor(order: KeeperOrder) {
    this.#order = order;
  }

  /** Creates the files of a new, empty server. */
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

  /** Resolves when the server accepts connections. */
  async start(): Promise<void> {
    for (let starts = 1; ; starts += 1) {
      this.port = await findFreePort();
      if (await this.#startOn(this.port)) return;
      const isTaken = /Address already in use|could not bind/.test(this.#output);
      if (!isTaken || starts === startsMax) {
        throw new Error(`PostgreSQL did not start:\n${this.#output}`);
      }
    }
  }

  /** Resolves with the last output when the started server ends without a request. */
  ended(): Promise<string> {
    return this.#ended.promise;
  }

  /** Ends the server and keeps its files. After SIGKILL, its sessions end shortly afterwards. */
  async end(signal: EndSignal): Promise<void> {
    this.#isEndRequested = true;
    await this.#endChild(signal);
  }

  /**
   * Restarts an ended server with the same files and port; resolves when it accepts connections.
   */
  async startAgain(): Promise<void> {
    if (!this.#isEndRequested) throw new Error('PostgreSQL is running.');
    if (!(await this.#startOn(this.port))) {
      throw new Error(`PostgreSQL did not start again:\n${this.#output}`);
    }
    this.#isEndRequested = false;
  }

  /**
   * Ends all processes immediately. No final checkpoint is needed, because the files are removed.
   */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#endChild('SIGQUIT');
  }

  /** Resolves when all processes have ended, because each of them holds the output pipe. */
  async #endChild(signal: EndSignal): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill(signal);
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
    void ready.promise.then((isReady) => {
      if (isReady)
        child.once('close', () => this.#isEndRequested || this.#ended.resolve(this.#output));
    });
    // Without either event within the limit, the state is unknown: end the process.
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

/** Removes the developer's own PostgreSQL settings, and selects messages in English. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(PG[A-Z]|LC_|LANG)/;
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: 'C' };
}

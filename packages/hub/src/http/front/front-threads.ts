import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { FastifyInstance } from 'fastify';
import type { Api } from '../bind.ts';
import type { RateLimits } from '../limiter.ts';
import { FrontCalls } from './front-calls.ts';
import type { FrontStart, ToCore, ToFront } from './messages.ts';
import { keepRelayed } from './relay.ts';

/** The settings of a hub that front threads need. */
type FrontSettings = RateLimits &
  Pick<FrontStart, 'logLevel' | 'trustedProxies'> & {
    readonly baseUrl: string | null;
    readonly frontThreads: number;
  };

interface FrontOptions {
  readonly count: number;
  readonly start: Omit<FrontStart, 'host' | 'port' | 'socketPath' | 'callable'>;
  /** How many hubs run on the database: each front thread takes its share of the limits. */
  readonly hubs: () => number;
  /** Called once when a thread fails after its start. Its connections are lost. */
  readonly onFailure: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  /** Resolves when it has served its last request, or ended. */
  readonly closed: Promise<unknown>;
}

/** How often front threads learn how many hubs run. */
const HUBS_INTERVAL_MS = 1_000;

/**
 * The threads that receive requests while this thread performs them (docs/decisions/0055). All of
 * them listen on one port; the system gives each new connection to one.
 */
export class FrontThreads {
  readonly #server: FastifyInstance;
  readonly #api: Api;
  readonly #options: FrontOptions;
  readonly #threads: Thread[] = [];
  #socketDir: string | null = null;
  #hubsTimer: NodeJS.Timeout | null = null;
  /** Whether the ends of threads are no failures, or one has been reported. */
  #isEnding = false;

  /** @param server serves what front threads relay. */
  constructor(server: FastifyInstance, api: Api, options: FrontOptions) {
    keepRelayed(server);
    this.#server = server;
    this.#api = api;
    this.#options = options;
  }

  /**
   * Starts to accept requests on a port that this process has open.
   * @throws the error of listening.
   */
  async listen(place: { host: string; port: number }): Promise<void> {
    // Only this user may open the folder, and so its socket.
    this.#socketDir = await mkdtemp(join(tmpdir(), 'signalbox-'));
    const socketPath = join(this.#socketDir, 'hub.sock');
    await this.#server.listen({ path: socketPath });
    const start = { ...this.#options.start, ...place, socketPath };
    const starts = Array.from({ length: this.#options.count }, () => this.#start(start));
    await Promise.all(starts);
    this.#tellHubs();
    this.#hubsTimer = setInterval(() => this.#tellHubs(), HUBS_INTERVAL_MS).unref();
  }

  /** Each answer ends its connection from now on. */
  drain(): void {
    this.#tell({ kind: 'drain' });
  }

  /** Serves the requests in progress, and ends the threads. */
  async close(): Promise<void> {
    this.#isEnding = true;
    if (this.#hubsTimer !== null) clearInterval(this.#hubsTimer);
    this.#tell({ kind: 'close' });
    await Promise.all(this.#threads.map(({ closed }) => closed));
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
    if (this.#socketDir !== null) await rm(this.#socketDir, { recursive: true, force: true });
  }

  /** Resolves when the thread listens. */
  async #start(start: Omit<FrontStart, 'callable'>): Promise<void> {
    const worker = new Worker(new URL('./front-thread.ts', import.meta.url), {
      // The hub's flags and environment contain secrets, and the thread needs none of them.
      execArgv: [],
      env: {},
      workerData: { ...start, callable: this.#api.callable } satisfies FrontStart,
    });
    const listening = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<unknown>();
    const calls = new FrontCalls(this.#api, (message) => worker.postMessage(message));
    worker.on('message', (message: ToCore) => {
      if (message.kind === 'listening') listening.resolve();
      else if (message.kind === 'closed') closed.resolve(null);
      else calls.receive(message);
    });
    let isListening = false;
    const fail = (error: Error) => {
      // Does nothing once the thread listens.
      listening.reject(error);
      if (!isListening || this.#isEnding) return;
      this.#isEnding = true;
      this.#options.onFailure(error);
    };
    worker.on('error', fail);
    worker.once('exit', (code) => {
      closed.resolve(null);
      fail(new Error(`it has ended with the code ${code}`));
    });
    this.#threads.push({ worker, closed: closed.promise });
    await listening.promise;
    isListening = true;
  }

  #tellHubs(): void {
    this.#tell({ kind: 'hubs', hubs: this.#options.hubs() * this.#options.count });
  }

  #tell(message: ToFront): void {
    for (const { worker } of this.#threads) worker.postMessage(message);
  }
}

/**
 * @param server serves what front threads relay.
 * @returns null without front threads.
 */
export function createFrontThreads(
  server: FastifyInstance,
  api: Api,
  options: { config: FrontSettings; onFrontFailure?: FrontOptions['onFailure'] },
  hubs: () => number,
): FrontThreads | null {
  const { config, onFrontFailure: onFailure = throwError } = options;
  const { frontThreads, baseUrl, logLevel, trustedProxies } = config;
  if (frontThreads === 0) return null;
  const { tokenRate, workspaceRate, addressRate } = config;
  const limits = { tokenRate, workspaceRate, addressRate };
  const secure = baseUrl?.startsWith('https:') ?? false;
  const start = { logLevel, trustedProxies, limits, secure };
  return new FrontThreads(server, api, { count: frontThreads, start, hubs, onFailure });
}

function throwError(error: Error): never {
  throw error;
}

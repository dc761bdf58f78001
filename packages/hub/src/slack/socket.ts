import { setTimeout as wait } from 'node:timers/promises';
import type { SocketModeClient } from '@slack/socket-mode';
import { handleCommand } from './command.ts';
import type { SlackDeps } from './deps.ts';
import { handleInteraction } from './press.ts';

/** An envelope of Socket Mode, with the function that acknowledges it. */
interface Envelope {
  ack(response?: object): Promise<void>;
  type: string;
  body: unknown;
}

const RETRY_FIRST_MS = 1_000;
const RETRY_MS_MAX = 60_000;
/** Slack tells the person of a failure after 3 s. */
const ACK_MS_MAX = 2_000;
/** The library waits for 30 s when Slack does not answer the end of the connection. */
const CLOSE_MS_MAX = 1_000;

/**
 * The hub's connection to Slack, by which presses and commands come without a public address. Of
 * several hubs, Slack sends each envelope to one.
 */
export class SlackSocket {
  readonly #deps: SlackDeps;
  readonly #appToken: string;
  readonly #stop = new AbortController();
  readonly #stopped = new Promise<void>((resolve) => {
    this.#stop.signal.addEventListener('abort', () => resolve());
  });
  readonly #handling = new Set<Promise<void>>();
  #connected: Promise<void> = Promise.resolve();

  constructor(deps: SlackDeps, appToken: string) {
    this.#deps = deps;
    this.#appToken = appToken;
  }

  start(): void {
    this.#connected = this.#stayConnected();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#connected;
    await Promise.all(this.#handling);
  }

  /**
   * The library could connect again, but a refusal that it gets then ends the process: no one can
   * catch it.
   */
  async #stayConnected(): Promise<void> {
    const { signal } = this.#stop;
    let delayMs = RETRY_FIRST_MS;
    while (!signal.aborted) {
      try {
        const client = await this.#connect();
        delayMs = RETRY_FIRST_MS;
        await this.#untilClosed(client);
      } catch (error) {
        this.#deps.log.warn(`Slack is not connected: ${(error as Error).message}`);
      }
      await wait(delayMs, undefined, { signal }).catch(() => {});
      delayMs = Math.min(delayMs * 2, RETRY_MS_MAX);
    }
  }

  async #connect(): Promise<SocketModeClient> {
    const { SocketModeClient } = await import('@slack/socket-mode');
    const { logger, ...clientOptions } = this.#deps.slack.options(this.#stop.signal);
    const appToken = this.#appToken;
    const client = new SocketModeClient({
      appToken,
      logger,
      clientOptions,
      autoReconnectEnabled: false,
    });
    client.on('slack_event', (envelope: Envelope) => {
      const handled = this.#handle(envelope)
        .catch((error: unknown) =>
          this.#deps.log.error({ err: error }, 'What Slack sent was not handled.'),
        )
        .finally(() => this.#handling.delete(handled));
      this.#handling.add(handled);
    });
    const started = client.start();
    // After a stop, its refusal matters to no one.
    started.catch(() => {});
    await Promise.race([started, this.#stopped]);
    return client;
  }

  async #untilClosed(client: SocketModeClient): Promise<void> {
    const closed = new Promise<void>((resolve) => client.once('disconnected', resolve));
    await Promise.race([closed, this.#stopped]);
    if (!this.#stop.signal.aborted) return;
    await Promise.race([client.disconnect(), wait(CLOSE_MS_MAX)]);
  }

  /** Acknowledges what is done, so that after the end of a hub Slack tells the person. */
  async #handle({ ack, type, body }: Envelope): Promise<void> {
    if (type === 'slash_commands') return await ack(await handleCommand(this.#deps, body));
    if (type !== 'interactive') return await ack();
    const handled = handleInteraction(this.#deps, body);
    const response = await Promise.race([handled, wait(ACK_MS_MAX, {}, { ref: false })]);
    await ack(response);
    await handled;
  }
}

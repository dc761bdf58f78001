import type { JobMessage } from '@signalbox/contract';
import type { Clock } from '../clock.ts';
import type { KnownMessage, MessageDesk } from '../executors/conversation.ts';
import { messageMark } from '../executors/messages-prompt.ts';
import { type HubClient, judgeFailure } from '../hub-client.ts';
import type { Backoff } from '../loops/backoff.ts';
import { type Attempt, fenceOf } from './attempt.ts';
import type { ToolSession } from './tool-session.ts';
import { untilAnswered } from './until-answered.ts';

/** The result of a job waits no longer for a hub that does not answer. */
const CALL_TIMEOUT_MS = 10_000;

export interface MessageOptions {
  client: Pick<HubClient, 'jobs'>;
  attempt: Attempt;
  session: ToolSession;
  clock: Clock;
  backoff: () => Backoff;
  signal: AbortSignal;
}

/**
 * Brings messages from the hub to the session of the tool. A message goes through three steps: this
 * machine has stored that it is sent; the tool has it; the hub knows that. After a kill between the
 * first two, the session itself is asked (docs/decisions/0062).
 */
export class HubMessages implements MessageDesk {
  readonly #options: MessageOptions;
  #telling: Promise<unknown> = Promise.resolve();

  constructor(options: MessageOptions) {
    this.#options = options;
  }

  async begin({ isResumed, shown }: { isResumed: boolean; shown: string | null }) {
    const { session, attempt, clock, backoff, signal } = this.#options;
    const { told, sent } = isResumed ? session.messages : { told: [], sent: [] };
    const has = (number: number) => shown?.includes(messageMark(attempt.jobId, number)) ?? false;
    const doubtful = shown === null ? sent : [];
    await session.keepMessages({ told: [...told, ...sent.filter(has)], sent: [] });
    if (isResumed) return this.#untold(await this.#takeOnce(), doubtful);
    // A new session has none of the messages that an earlier one had. It has not begun to work, so
    // that waiting for the hub costs nothing.
    const means = { clock, backoff: backoff(), refusal: 'messages_refused' };
    const messages = await untilAnswered(means, signal, (timeoutMs) => this.#take(timeoutMs));
    return this.#untold(messages, doubtful);
  }

  async next(): Promise<KnownMessage[]> {
    await this.#telling;
    return this.#untold(await this.#takeOnce(), []);
  }

  async sending(messages: readonly KnownMessage[]): Promise<void> {
    if (messages.length === 0) return;
    const { session } = this.#options;
    const { told } = session.messages;
    await session.keepMessages({ told, sent: messages.map(({ number }) => number) });
  }

  async received(): Promise<void> {
    const { session } = this.#options;
    const { told, sent } = session.messages;
    if (sent.length === 0) return;
    await session.keepMessages({ told: [...told, ...sent], sent: [] });
    // For people who look. The completion tells it in any case.
    this.#telling = this.#takeOnce();
    // The next call throws what it fails with; a job that is stopped makes no further call.
    this.#telling.catch(() => {});
  }

  #untold(messages: readonly JobMessage[], doubtful: readonly number[]): KnownMessage[] {
    const { told } = this.#options.session.messages;
    return messages
      .filter(({ number }) => !told.includes(number))
      .map(({ number, text }) => ({ number, text, isDoubtful: doubtful.includes(number) }));
  }

  /** None if the hub does not answer: what it has stays queued, and becomes the next round. */
  async #takeOnce(): Promise<JobMessage[]> {
    try {
      return await this.#take(CALL_TIMEOUT_MS);
    } catch (error) {
      judgeFailure(error);
      return [];
    }
  }

  async #take(timeoutMs: number): Promise<JobMessage[]> {
    const { client, attempt, session, signal } = this.#options;
    const delivered = [...session.messages.told];
    try {
      const { messages } = await client.jobs.takeMessages(
        { ...fenceOf(attempt), delivered },
        { signal, timeoutMs },
      );
      return messages;
    } catch (error) {
      const failure = judgeFailure(error);
      // An older hub keeps the messages for the next round.
      if (failure.kind === 'retry' && failure.isPathUnknown) return [];
      throw error;
    }
  }
}

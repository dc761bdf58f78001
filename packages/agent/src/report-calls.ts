import {
  type ErrorCode,
  type endpoints,
  errorCodes,
  type RequestOf,
  type ResponseOf,
  statusOf,
} from '@signalbox/contract';
import { ApiError, type CallOptions } from '@signalbox/sdk';
import type { Clock } from './clock.ts';
import { type HubClient, judgeFailure } from './hub-client.ts';

/** How long a renewal or a heartbeat waits for other calls to go with. */
const WAIT_MS_MAX = 2_000;
/** Of the lease, or of the interval between heartbeats: less than what either has to spare. */
const WAIT_SHARE = 1 / 30;
/** How long output waits that follows other output closely. The first output never waits. */
const OUTPUT_WAIT_MS = 25;
const OUTPUT_FOLLOWS_MS = 1_000;
/** Output of one report. A request has at most twice as much. */
const OUTPUT_BYTES_MAX = 128 * 1_024;
/** A renewal with less time than this is urgent. */
const URGENT_TIMEOUT_MS = 10_000;
/** The status of codes that this agent does not know. */
const STATUS_OF_OTHER_CODES = 400;

type ReportCall = HubClient['agents']['report'];
type Report = RequestOf<typeof endpoints.agents.report> & { renewals: object[]; outputs: object[] };
type ReportAnswer = ResponseOf<typeof endpoints.agents.report>;

/** A call that waits for others to go with. */
interface WaitingCall {
  /** Null: of the agent of the others. */
  agentId: string | null;
  workspaceId: string;
  outputBytes: number;
  timeoutMs: number | undefined;
  /** Sends the call by itself. */
  sendAlone(): void;
  /** Adds the call to a report. Returns what takes its answer from that of the report. */
  join(report: Report): (answer: ReportAnswer) => void;
  fail(error: unknown): void;
}

/**
 * Wraps a client: heartbeats, renewals and output that are due at about the same time go to the hub
 * in one call, `agents/report`. Their callers notice nothing. A single call goes by itself, and a
 * hub without this extension gets single calls only.
 */
export function createReportingClient(client: HubClient, clock: Clock): HubClient {
  const reports = new Reports(client.agents.report, clock);
  return {
    ...client,
    agents: { ...client.agents, heartbeat: createHeartbeat(client, reports) },
    jobs: { ...client.jobs, heartbeat: createRenewal(client, reports) },
    jobEvents: { ...client.jobEvents, append: createAppend(client, reports, clock) },
  };
}

function createHeartbeat(client: HubClient, reports: Reports): HubClient['agents']['heartbeat'] {
  let last = { text: '', intervalMs: 0 };
  return async (body, options) => {
    const text = JSON.stringify(body);
    // A heartbeat with news, such as a status, is sent at once.
    const waitMs = text === last.text ? waitOf(last.intervalMs) : 0;
    const { workspaceId: _workspace, ...heartbeat } = body;
    const answer = await reports.send(client.agents.heartbeat, body, options, {
      waitMs,
      agentId: null,
      outputBytes: 0,
      join(report) {
        // Fields that are undefined are not sent.
        report.heartbeat = heartbeat as NonNullable<Report['heartbeat']>;
        return ({ heartbeat: beat, commands }) => {
          if (beat === undefined) throw new TypeError('a report has an answer to its heartbeat');
          return { ok: true as const, ...beat, commands };
        };
      },
    });
    last = { text, intervalMs: answer.intervalMs };
    return answer;
  };
}

function createRenewal(client: HubClient, reports: Reports): HubClient['jobs']['heartbeat'] {
  return (body, options) => {
    const { workspaceId: _workspace, agentId, ...renewal } = body;
    const isUrgent = body.shorten === true || (options?.timeoutMs ?? 0) < URGENT_TIMEOUT_MS;
    return reports.send(client.jobs.heartbeat, body, options, {
      agentId,
      outputBytes: 0,
      waitMs: isUrgent ? 0 : waitOf(body.leaseMs ?? 0),
      join(report) {
        const at = report.renewals.push(renewal) - 1;
        return ({ renewals, commands }) => {
          const { leaseExpiresAt, cancelRequested } = accepted(renewals[at]);
          if (leaseExpiresAt === undefined || cancelRequested === undefined) {
            throw new TypeError('a renewal that is accepted has a lease');
          }
          return { ok: true as const, leaseExpiresAt, cancelRequested, commands };
        };
      },
    });
  };
}

function createAppend(
  client: HubClient,
  reports: Reports,
  clock: Clock,
): HubClient['jobEvents']['append'] {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (body, options) => {
    const { workspaceId: _workspace, agentId, ...output } = body;
    const nowMs = clock.monotonicMs();
    const waitMs = nowMs - lastMs < OUTPUT_FOLLOWS_MS ? OUTPUT_WAIT_MS : 0;
    lastMs = nowMs;
    return reports.send(client.jobEvents.append, body, options, {
      agentId,
      waitMs,
      outputBytes: Buffer.byteLength(JSON.stringify(output)),
      join(report) {
        const at = report.outputs.push(output) - 1;
        return ({ outputs }) => {
          const { appended, lastLogSeq, cancelRequested } = accepted(outputs[at]);
          if (appended === undefined || lastLogSeq === undefined) {
            throw new TypeError('output that is accepted has a number');
          }
          const more = cancelRequested === undefined ? {} : { cancelRequested };
          return { ok: true as const, appended, lastLogSeq, ...more };
        };
      },
    });
  };
}

function waitOf(intervalMs: number): number {
  return Math.min(WAIT_MS_MAX, intervalMs * WAIT_SHARE);
}

/** The result of an item, unless it is the refusal that the single call would get. */
function accepted<Result extends { error?: string; message?: string; retryAfterMs?: number }>(
  result: Result | undefined,
): Result {
  if (result === undefined) throw new TypeError('a report has a result for each item');
  const { error: code, message = '', retryAfterMs = null } = result;
  if (code === undefined) return result;
  // A newer hub may send codes that this agent does not know.
  const isKnown = Object.hasOwn(errorCodes, code);
  const status = isKnown ? statusOf(code as ErrorCode) : STATUS_OF_OTHER_CODES;
  throw new ApiError({ code, status, message, retryAfterMs });
}

/** How a call joins a report, and how long it waits for others. */
interface Joining<Answer> {
  waitMs: number;
  agentId: string | null;
  outputBytes: number;
  /** Returns what takes the answer of the call from that of the report, or throws its refusal. */
  join(report: Report): (answer: ReportAnswer) => Answer;
}

/** Collects the calls of an agent, and sends those together that wait when the first is due. */
class Reports {
  readonly #report: ReportCall;
  readonly #clock: Clock;
  #waiting: WaitingCall[] = [];
  #isSupported = true;

  constructor(report: ReportCall, clock: Clock) {
    this.#report = report;
    this.#clock = clock;
  }

  send<Body extends { workspaceId: string }, Answer>(
    call: (body: Body, options?: CallOptions) => Promise<Answer>,
    body: Body,
    options: CallOptions | undefined,
    { waitMs, join, ...place }: Joining<Answer>,
  ): Promise<Answer> {
    if (!this.#isSupported) return call(body, options);
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const waiting: WaitingCall = {
      ...place,
      workspaceId: body.workspaceId,
      timeoutMs: options?.timeoutMs,
      sendAlone: () => void call(body, options).then(resolve, reject),
      join(report) {
        const take = join(report);
        return (answer) => {
          try {
            resolve(take(answer));
          } catch (error) {
            reject(error);
          }
        };
      },
      fail: reject,
    };
    const { signal } = options ?? {};
    const abandon = () => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      reject(signal?.reason);
    };
    if (signal?.aborted) abandon();
    else this.#wait(waiting, waitMs);
    signal?.addEventListener('abort', abandon, { once: true });
    return promise.finally(() => signal?.removeEventListener('abort', abandon));
  }

  #wait(waiting: WaitingCall, waitMs: number): void {
    this.#waiting.push(waiting);
    // Without a wait, calls of the same turn still go together.
    const due = waitMs > 0 ? this.#clock.sleep(waitMs) : Promise.resolve();
    void due.then(() => {
      if (this.#waiting.includes(waiting)) this.#sendWaiting(waiting);
    });
  }

  /** Sends a call that is due, with those that may go with it. */
  #sendWaiting(due: WaitingCall): void {
    const together = [due];
    const agentId = due.agentId ?? this.#waiting.find((other) => other.agentId !== null)?.agentId;
    let outputBytes = due.outputBytes;
    for (const other of this.#waiting) {
      const isOfAgent = other.agentId === null || other.agentId === agentId;
      if (other === due || !isOfAgent || outputBytes + other.outputBytes > OUTPUT_BYTES_MAX)
        continue;
      together.push(other);
      outputBytes += other.outputBytes;
    }
    this.#waiting = this.#waiting.filter((other) => !together.includes(other));
    if (together.length === 1 || agentId == null) for (const call of together) call.sendAlone();
    else void this.#sendTogether(agentId, together);
  }

  async #sendTogether(agentId: string, calls: readonly WaitingCall[]): Promise<void> {
    const report: Report = {
      workspaceId: calls[0]?.workspaceId ?? '',
      agentId,
      renewals: [],
      outputs: [],
    };
    const takers = calls.map((call) => call.join(report));
    const timeouts = calls.flatMap(({ timeoutMs }) => (timeoutMs === undefined ? [] : [timeoutMs]));
    try {
      const answer = await this.#report(report, { timeoutMs: Math.min(...timeouts) });
      for (const take of takers) take(answer);
    } catch (error) {
      const mayGoAlone = this.#isAboutReport(error);
      for (const call of calls) {
        if (mayGoAlone) call.sendAlone();
        else call.fail(error);
      }
    }
  }

  /** Whether a failure is about the report as a whole and says nothing of its calls. */
  #isAboutReport(error: unknown): boolean {
    if (!(error instanceof ApiError)) return false;
    const failure = judgeFailure(error);
    const isPathUnknown = failure.kind === 'retry' && failure.isPathUnknown;
    if (isPathUnknown) this.#isSupported = false;
    return isPathUnknown || failure.kind === 'refused';
  }
}

import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { type ChangeMessage, endpoints } from '@signalbox/contract';
import { readField } from './answer-reader.ts';
import type { Connection, Target } from './connection.ts';
import type { NoteCall } from './fleet-agent.ts';
import { formatPost, requireOk } from './hub-calls.ts';

/** As the console: reads for changes begin no more often than this. */
const READ_GAP_MS = 500;
const PAGE_LINES = 200;

export interface Watched {
  readonly workspaceId: string;
  readonly jobId: string;
}

/** A browser that shows the log of a running job: its stream of changes, and its reads. */
export class FleetWatcher {
  readonly #connection: Connection;
  readonly #target: Target;
  readonly #token: string;
  readonly #watched: Watched;
  readonly #note: NoteCall;
  readonly #fail: (error: Error) => void;
  #stream: ClientRequest | null = null;
  #dueMs: number | null = null;
  #isReading = false;
  #isOver = false;

  constructor(
    { connection, target, token }: { connection: Connection; target: Target; token: string },
    watched: Watched,
    report: { note: NoteCall; fail: (error: Error) => void },
  ) {
    this.#connection = connection;
    this.#target = target;
    this.#token = token;
    this.#watched = watched;
    this.#note = report.note;
    this.#fail = report.fail;
  }

  /** Resolves when the stream is open. */
  async open(): Promise<void> {
    const opened = Promise.withResolvers<void>();
    const { workspaceId } = this.#watched;
    this.#stream = get(
      {
        ...this.#target,
        path: `${endpoints.changes.stream.path}?workspaceId=${workspaceId}`,
        headers: { authorization: `Bearer ${this.#token}`, accept: 'text/event-stream' },
      },
      (response) => {
        if (response.statusCode !== 200) {
          opened.reject(new Error(`changes/stream: ${response.statusCode}`));
          return;
        }
        opened.resolve();
        this.#follow(response);
      },
    );
    this.#stream.on('error', (error) => {
      opened.reject(error);
      if (!this.#isOver) this.#fail(error);
    });
    await opened.promise;
  }

  close(): void {
    this.#isOver = true;
    this.#stream?.destroy();
  }

  #follow(response: IncomingMessage): void {
    let rest = '';
    response.setEncoding('latin1');
    response.on('data', (chunk: string) => {
      const messages = (rest + chunk).split('\n\n');
      rest = messages.pop() ?? '';
      for (const message of messages) this.#take(message);
    });
    response.on('end', () => {
      if (!this.#isOver) this.#fail(new Error('the hub ended a stream of changes'));
    });
    response.on('error', (error) => {
      if (!this.#isOver) this.#fail(error);
    });
  }

  #take(message: string): void {
    const data = /^data: ?(.*)$/m.exec(message)?.[1];
    if (!/^event: ?changes$/m.test(message) || data === undefined) return;
    const { changes } = JSON.parse(data) as ChangeMessage;
    const { jobId } = this.#watched;
    const isOfJob = changes.some(
      ({ kind, id }) => (kind === 'job' || kind === 'jobEvents') && (id === null || id === jobId),
    );
    if (!isOfJob) return;
    this.#dueMs ??= performance.now();
    if (!this.#isReading) this.#readWhileDue().catch(this.#fail);
  }

  /** Reads the job, the size of its log, and the lines at its end. */
  async #readWhileDue(): Promise<void> {
    this.#isReading = true;
    while (this.#dueMs !== null && !this.#isOver) {
      const dueMs = this.#dueMs;
      this.#dueMs = null;
      await this.#read(endpoints.jobs.get.path, this.#watched);
      const head = await this.#read(endpoints.jobs.log.path, { ...this.#watched, limit: 1 });
      const last = Number(readField(head, 'nextLine') ?? 1);
      const fromLine = Math.max(1, Math.floor((last - 1) / PAGE_LINES) * PAGE_LINES + 1);
      await this.#read(endpoints.jobs.log.path, { ...this.#watched, fromLine, limit: PAGE_LINES });
      this.#note('watch', dueMs);
      await new Promise((resolve) => setTimeout(resolve, READ_GAP_MS));
    }
    this.#isReading = false;
  }

  async #read(path: string, body: object): Promise<string> {
    const request = formatPost(this.#target, path, this.#token, JSON.stringify(body));
    return await requireOk(this.#connection, request, path);
  }
}

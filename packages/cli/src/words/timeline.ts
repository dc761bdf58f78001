import type { Activity, Job, JobEvent, JobEventKind } from '@signalbox/contract';
import { formatClock } from '../terminal/duration.ts';
import type { Io, Styles } from '../terminal/io.ts';
import { printHanging } from '../terminal/table.ts';
import { cleanStyledLine, cleanText, oneLine, truncateText, wrapLine } from '../terminal/text.ts';
import { followText } from './activity-text.ts';
import { evidenceText, reasonText, shortId } from './job-text.ts';

const words: Readonly<Record<Exclude<JobEventKind, 'log'>, string>> = {
  enqueued: 'enqueued',
  claimed: 'claimed',
  heartbeat: 'progress',
  completed: 'completed',
  failed: 'failed',
  blocked: 'blocked',
  canceled: 'canceled',
  recovered: 'lost',
};

const colors: Partial<Record<JobEventKind, keyof Styles>> = {
  claimed: 'cyan',
  completed: 'green',
  failed: 'red',
  blocked: 'yellow',
  recovered: 'magenta',
};

const WORD_WIDTH = 9;
/** The bar before tool output, and a space. */
const GUTTER_WIDTH = 2;
/** A line shows only the beginning of a long message; `signalbox job` shows all of it. */
const MESSAGE_WIDTH = 160;

/** Prints events as they arrive; tool output is indented after a bar. */
export interface TimelinePrinter {
  print(events: readonly JobEvent[]): void;
  /** Prints a line that is not a job event. */
  note(word: string, text: string): void;
  /** Prints a last line of output that lacks its line feed. */
  end(): void;
}

export function createTimelinePrinter(
  io: Io,
  agentNames: ReadonlyMap<string, string>,
): TimelinePrinter {
  const { styles } = io;
  const margin = ' '.repeat('00:00:00'.length + 2);
  /** Output arrives in chunks that may end within a line. */
  let openLine: string[] = [];
  /** The ID of the tool call that began last. */
  let lastCall = '';

  function printOutput(text: string): void {
    const [rest = '', ...next] = text.split('\n');
    openLine.push(rest);
    for (const begun of next) {
      printLine(openLine.join(''));
      openLine = [begun];
    }
  }

  function printLine(line: string): void {
    const clean = io.isColored ? cleanStyledLine(line) : cleanText(line);
    for (const shown of wrapLine(clean, io.columns - margin.length - GUTTER_WIDTH)) {
      io.printOutput(`${margin}${styles.dim('│')} ${shown}`.trimEnd());
    }
  }

  function end(): void {
    if (openLine.some((part) => part !== '')) printOutput('\n');
    openLine = [];
  }

  function printActivity(activity: Activity): void {
    const text = followText(activity, lastCall);
    if (activity.toolCall?.status === 'running') lastCall = activity.toolCall.id;
    if (text === null) return;
    end();
    for (const shown of wrapLine(text, io.columns - margin.length - GUTTER_WIDTH)) {
      io.print(`${margin}${styles.dim('│')} ${styles.dim(shown)}`);
    }
  }

  function printEvent(event: JobEvent): void {
    const { kind } = event;
    // Mark late output: it comes from an attempt that has lost the job to another one.
    if (kind === 'log' && event.data?.late !== true) {
      printOutput(event.message ?? '');
      // The hub checked its shape when it was appended.
      const activity = event.data?.activity as Activity | undefined;
      if (activity !== undefined) printActivity(activity);
      return;
    }
    if (kind === 'heartbeat' && !event.message) return;
    end();
    const word = (kind === 'log' ? 'late' : wordOf(event, kind)).padEnd(WORD_WIDTH);
    const color = colors[kind];
    const shown = color === undefined ? word : styles[color](word);
    const lead = `${styles.dim(formatClock(event.at))}  ${shown}  `;
    printHanging(io, lead, describeEvent(event, agentNames), margin.length + word.length + 2);
  }

  return {
    print(events) {
      for (const event of events) printEvent(event);
    },
    note(word, text) {
      end();
      io.print(styles.dim(`${margin}${word.padEnd(WORD_WIDTH)}  ${oneLine(text)}`));
    },
    end,
  };
}

/** An agent loses a job only when it does not answer. People end attempts, too. */
function wordOf({ data }: JobEvent, kind: keyof typeof words): string {
  if (kind === 'heartbeat' && data?.cancelRequestedBy !== undefined) return 'cancel';
  if (kind === 'heartbeat' && data?.decision !== undefined) return 'answer';
  if (kind !== 'recovered') return words[kind];
  if (data?.cause === 'cancel') return 'ended';
  return data?.releasedBy === undefined ? words.recovered : 'released';
}

function describeEvent(event: JobEvent, agentNames: ReadonlyMap<string, string>): string {
  const { kind, agentId, attempt, data } = event;
  const message = truncateText(oneLine(event.message ?? ''), MESSAGE_WIDTH);
  if (kind === 'claimed') return `by ${nameOf(agentId, agentNames)}, attempt ${attempt}`;
  if (kind === 'recovered') {
    const loser = `attempt ${attempt} of ${nameOf(agentId, agentNames)}`;
    return message === '' ? loser : `${loser}: ${message}`;
  }
  // The hub chooses the fields of `data`; show those with the shape of a completion.
  const { evidence = null, outcomeReason = null } = (data ?? {}) as Partial<Job>;
  const by = kind === 'canceled' && typeof data?.byName === 'string' ? `by ${data.byName}` : null;
  const parts = [by, message, ...outcomeParts(message, outcomeReason), evidenceText({ evidence })];
  return parts
    .filter((part) => part !== null && part !== '')
    .map(String)
    .map(oneLine)
    .join(' · ');
}

/** The reason, unless the message says it already: then its code. */
function outcomeParts(message: string, reason: Job['outcomeReason']): (string | null)[] {
  const text = reasonText(reason);
  if (reason === null || typeof reason === 'string') return [message === text ? null : text];
  const isSaid = reason.summary !== undefined && oneLine(reason.summary) === message;
  return [isSaid ? (reason.code ?? null) : text];
}

function nameOf(agentId: string | null, agentNames: ReadonlyMap<string, string>): string {
  if (agentId === null) return 'an agent';
  return agentNames.get(agentId) ?? `agent ${shortId(agentId)}`;
}

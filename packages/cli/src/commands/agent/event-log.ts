import type { LifecycleEvent } from '@signalbox/agent';
import type { ExitCode } from '../../exit-codes.ts';
import { exitCodes } from '../../exit-codes.ts';
import { formatClock } from '../../terminal/duration.ts';
import type { Io, Styles } from '../../terminal/io.ts';
import { createLiveLines } from '../../terminal/live-lines.ts';
import { oneLine } from '../../terminal/text.ts';

/** Shows the events of an agent, one line each. */
export interface EventLog<Event> {
  /** Shows a note to the person; not with `--json`. */
  say(text: string): void;
  onEvent(event: Event): void;
  /** The exit code of the last result; 0 without any result. */
  resultCode(): ExitCode;
}

/** The lines that an event prints: one, and those that continue it. */
export type Entry = readonly [line: string, ...more: string[]];

/**
 * @param describe Returns the entries for an event.
 * @param exitCodeAfter Returns the exit code that an event implies; null if none.
 * @param workOf Returns the work that an event is about, and whether its line stands only until
 * the next one of that work. On a terminal such a line changes in place.
 */
export function createEventLog<Event extends { type: string }>(
  io: Io,
  describe: (event: Event) => readonly Entry[],
  exitCodeAfter: (event: Event) => ExitCode | null,
  workOf: (event: Event) => { id: string; isPassing: boolean } | null = () => null,
): EventLog<Event> {
  let code: ExitCode = exitCodes.ok;
  const live = createLiveLines(io);
  return {
    say(text) {
      if (!io.json) live.above(() => io.note(text));
    },
    onEvent(event) {
      code = exitCodeAfter(event) ?? code;
      if (io.json) {
        io.printJson({ at: new Date().toISOString(), ...event });
        return;
      }
      const work = workOf(event);
      const clock = io.styles.dim(formatClock(new Date()));
      const lines = describe(event).flatMap(([line, ...more]) => [`${clock}  ${line}`, ...more]);
      const [only] = lines;
      if (only === undefined) return;
      if (work?.isPassing && live.set(work.id, only)) return;
      if (work !== null) live.remove(work.id);
      live.above(() => {
        for (const line of lines) io.print(line);
      });
    },
    resultCode: () => code,
  };
}

/** The line for a lifecycle event. */
export function describeLifecycle(event: LifecycleEvent, { green, yellow, dim }: Styles): string {
  switch (event.type) {
    case 'online':
      return `${green('●')} online, waiting for jobs`;
    case 'hub-unreachable':
      return `${yellow('●')} ${oneLine(event.message)} Work continues; retrying.`;
    case 'hub-back':
      return `${green('●')} the hub is back`;
    case 'draining':
      return `${dim('●')} ${event.byHub ? "draining at the hub's request" : 'accepting no more jobs'}`;
    case 'stopping': {
      const jobs = event.returnsJobs
        ? 'returning the jobs to the queue'
        : 'finishing the jobs first';
      return `${dim('●')} stopping at the hub's request, ${jobs}`;
    }
    case 'resumed':
      return `${green('●')} accepting jobs again`;
    case 'paused': {
      const of = event.isPartial ? `${oneLine(event.repository ?? event.tool ?? '')} ` : '';
      return (
        `${yellow('●')} ${of}paused until ${formatClock(new Date(event.untilMs))}, ${event.code}: ` +
        oneLine(event.message)
      );
    }
    case 'unpaused':
      return `${green('●')} claiming again`;
    case 'offline':
      return `${dim('○')} offline`;
  }
}

import type { AgentEvent, CloudAiEvent } from '@signalbox/agent';
import { formatClock } from '../../duration.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { Io, Styles } from '../../io.ts';
import { oneLine } from '../../text.ts';

/** Shows what an agent does, a line at a time. */
export interface EventLog<Event> {
  /** A note to the person; nothing with `--json`. */
  say(text: string): void;
  onEvent(event: Event): void;
  /** What the last result means for the shell; 0 when there was none. */
  resultCode(): ExitCode;
}

/** Events of the lifecycle that both agents share. */
type LifecycleEvent = Extract<AgentEvent, CloudAiEvent>;

/**
 * @param describe the line for an event; null for an event that needs none.
 * @param exitCodeAfter what an event means for the shell; null when it means nothing.
 */
export function createEventLog<Event extends { type: string }>(
  io: Io,
  describe: (event: Event) => string | null,
  exitCodeAfter: (event: Event) => ExitCode | null,
): EventLog<Event> {
  let code: ExitCode = exitCodes.ok;
  return {
    say(text) {
      if (!io.json) io.note(text);
    },
    onEvent(event) {
      code = exitCodeAfter(event) ?? code;
      if (io.json) {
        io.printJson({ at: new Date().toISOString(), ...event });
        return;
      }
      const line = describe(event);
      if (line !== null) io.print(`${io.styles.dim(formatClock(new Date()))}  ${line}`);
    },
    resultCode: () => code,
  };
}

/** The line for an event of the lifecycle. */
export function describeLifecycle(event: LifecycleEvent, { green, yellow, dim }: Styles): string {
  switch (event.type) {
    case 'online':
      return `${green('●')} online, waiting for jobs`;
    case 'hub-unreachable':
      return `${yellow('●')} ${oneLine(event.message)} Work continues; still trying.`;
    case 'hub-back':
      return `${green('●')} the hub is back`;
    case 'draining':
      return `${dim('●')} ${event.byHub ? 'draining, as the hub asks' : 'taking no more jobs'}`;
    case 'resumed':
      return `${green('●')} taking jobs again`;
    case 'offline':
      return `${dim('○')} offline`;
  }
}

import type { CloudAiEvent } from '@signalbox/agent';
import { formatClock, formatDuration } from '../duration.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Io, Styles } from '../io.ts';
import { shortId } from '../job-text.ts';
import { oneLine, truncateText } from '../text.ts';

const MESSAGE_WIDTH = 160;

/** Shows what an executor does, a calm line at a time. */
export interface CloudAiLog {
  say(text: string): void;
  onEvent(event: CloudAiEvent): void;
  /** What the last result means for the shell; 0 when there was none. */
  resultCode(): ExitCode;
}

export function createCloudAiLog(io: Io): CloudAiLog {
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
      const line = describeEvent(event, io.styles);
      if (line !== null) io.print(`${io.styles.dim(formatClock(new Date()))}  ${line}`);
    },
    resultCode: () => code,
  };
}

function exitCodeAfter(event: CloudAiEvent): ExitCode | null {
  if (event.type === 'result-refused') return exitCodes.refused;
  if (event.type === 'job-stopping') {
    return event.reason === 'canceled' ? exitCodes.canceled : exitCodes.failed;
  }
  if (event.type !== 'result-accepted') return null;
  return event.status === 'done' ? exitCodes.ok : exitCodes.failed;
}

/** The line for an event; null for what needs none. */
function describeEvent(event: CloudAiEvent, styles: Styles): string | null {
  const { bold, dim, cyan, green, yellow, red } = styles;
  const about = (id: string, text: string) => `${bold(shortId(id))}  ${oneLine(text)}`;
  switch (event.type) {
    case 'online':
      return `${green('●')} online, waiting for jobs`;
    case 'hub-unreachable':
      return `${yellow('●')} ${oneLine(event.message)} Work goes on; still trying.`;
    case 'hub-back':
      return `${green('●')} the hub is back`;
    case 'job-claimed': {
      const { cloudAiJobId, kind, model } = event.job;
      const asked = model === null ? kind : `${kind}, ${model}`;
      return `${cyan('▶')} ${about(cloudAiJobId, asked)} ${dim(`· attempt ${event.attempt}`)}`;
    }
    case 'call-retry': {
      const text = truncateText(event.message, MESSAGE_WIDTH);
      const when = `again in ${formatDuration(event.delayMs)}`;
      return `${yellow('↻')} ${about(event.cloudAiJobId, `${text} · ${when}`)}`;
    }
    case 'job-stopping':
      return `${yellow('■')} ${about(event.cloudAiJobId, `stopping: ${event.why}`)}`;
    case 'job-finished': {
      const mark = event.outcome === 'done' ? green('✔') : red('✖');
      return `${mark} ${about(event.cloudAiJobId, finishedText(event))}`;
    }
    case 'result-accepted':
      return null;
    case 'result-refused': {
      const text = `the hub refuses the result: ${event.message}`;
      return `${red('✖')} ${about(event.cloudAiJobId, text)}`;
    }
    case 'draining':
      return `${dim('●')} ${event.byHub ? 'draining, as the hub asks' : 'taking no more jobs'}`;
    case 'resumed':
      return `${green('●')} taking jobs again`;
    case 'offline':
      return `${dim('○')} offline`;
  }
}

function finishedText(event: Extract<CloudAiEvent, { type: 'job-finished' }>): string {
  const { outcome, usage, message } = event;
  const tokens =
    usage === null ? '' : ` · ${usage.inputTokens ?? 0} tokens in, ${usage.outputTokens ?? 0} out`;
  const said = message === '' ? '' : ` · ${truncateText(oneLine(message), MESSAGE_WIDTH)}`;
  return `${outcome ?? 'given back'}${tokens}${said}`;
}

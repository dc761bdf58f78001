import type { CloudAiEvent } from '@signalbox/agent';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { formatDuration } from '../../terminal/duration.ts';
import type { Io, Styles } from '../../terminal/io.ts';
import { oneLine, truncateText } from '../../terminal/text.ts';
import { shortId } from '../../words/job-text.ts';
import { createEventLog, describeLifecycle, type Entry, type EventLog } from './event-log.ts';

const MESSAGE_WIDTH = 160;

export function createCloudAiLog(io: Io): EventLog<CloudAiEvent> {
  const describe = (event: CloudAiEvent): Entry[] => {
    const line = describeEvent(event, io.styles);
    return line === null ? [] : [[line]];
  };
  return createEventLog(io, describe, exitCodeAfter);
}

function exitCodeAfter(event: CloudAiEvent): ExitCode | null {
  if (event.type === 'result-refused') return exitCodes.refused;
  if (event.type === 'job-stopping') {
    return event.reason === 'canceled' ? exitCodes.canceled : exitCodes.failed;
  }
  if (event.type !== 'result-accepted') return null;
  return event.status === 'done' ? exitCodes.ok : exitCodes.failed;
}

/** The line for an event; null if the event has none. */
function describeEvent(event: CloudAiEvent, styles: Styles): string | null {
  const { bold, dim, cyan, green, yellow, red } = styles;
  const about = (id: string, text: string) => `${bold(shortId(id))}  ${oneLine(text)}`;
  switch (event.type) {
    case 'job-claimed': {
      const { cloudAiJobId, kind, model } = event.job;
      const asked = model === null ? kind : `${kind}, ${model}`;
      return `${cyan('▶')} ${about(cloudAiJobId, asked)} ${dim(`· attempt ${event.attempt}`)}`;
    }
    case 'call-retry': {
      const text = truncateText(event.message, MESSAGE_WIDTH);
      const when = `retrying in ${formatDuration(event.delayMs)}`;
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
      const text = `the hub rejected the result: ${event.message}`;
      return `${red('✖')} ${about(event.cloudAiJobId, text)}`;
    }
    default:
      return describeLifecycle(event, styles);
  }
}

function finishedText(event: Extract<CloudAiEvent, { type: 'job-finished' }>): string {
  const { outcome, usage, message } = event;
  const tokens =
    usage === null ? '' : ` · ${usage.inputTokens ?? 0} tokens in, ${usage.outputTokens ?? 0} out`;
  const said = message === '' ? '' : ` · ${truncateText(oneLine(message), MESSAGE_WIDTH)}`;
  return `${outcome ?? 'returned to the queue'}${tokens}${said}`;
}

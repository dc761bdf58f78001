import type { ToolCall } from '@signalbox/contract';
import { callKinds, stateOfCall } from '../format/activity.ts';
import { parseAnsiLine } from '../format/ansi.ts';
import { plainStyle } from '../format/ansi-style.ts';
import { plainText } from '../format/text.ts';
import { formatDuration } from '../format/time.ts';
import { Icon } from '../parts/page/icon.tsx';
import { AnsiText } from '../parts/text/ansi-line.tsx';
import { useNow } from '../parts/text/relative-time.tsx';

interface CallTextProps {
  call: ToolCall;
  startedAt: string;
  /** The attempt has ended, so that nothing runs. */
  isEnded: boolean;
  /** Of a sub-agent. */
  isNested: boolean;
  /** The text that was searched for; empty: none. */
  words: string;
}

/** A tool call in one line: its kind, its title and its state. */
export function CallText({ call, startedAt, isEnded, isNested, words }: CallTextProps) {
  const kind = callKinds[call.kind];
  const title = plainText(call.title);
  const state = stateOfCall(call, isEnded);
  return (
    <span className="log-call">
      {isNested && <span className="text-faint">│</span>}
      <Icon name={kind.icon} className="size-3.5 shrink-0 text-muted" />
      <span className="sr-only">{kind.word}: </span>
      <span className="log-call-title" title={title}>
        <AnsiText line={parseAnsiLine(title, plainStyle).line} searched={words} />
      </span>
      <span className={`inline-flex shrink-0 items-center gap-1 font-sans text-xs ${state.tone}`}>
        <Icon name={state.icon} className="size-3.5" />
        <span className={state.word === 'done' ? 'sr-only' : ''}>{state.word}</span>
        {state.word === 'running' && <Elapsed since={startedAt} />}
      </span>
      {state.details !== '' && (
        <span className="shrink-0 font-sans text-xs text-muted tabular-nums max-sm:hidden">
          {state.details}
        </span>
      )}
    </span>
  );
}

/** Whole seconds, so that it changes once in a second. */
function Elapsed({ since }: { since: string }) {
  const text = useNow((nowMs) => {
    const seconds = Math.max(0, Math.floor((nowMs - Date.parse(since)) / 1_000));
    return seconds < 10 ? `${seconds} s` : formatDuration(seconds * 1_000);
  });
  return <span className="tabular-nums">{text}</span>;
}

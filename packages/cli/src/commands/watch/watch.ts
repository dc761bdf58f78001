import type { ListedJob, ListedUncertainty } from '@signalbox/contract';
import { ApiError, UnreachableError } from '@signalbox/sdk';
import { defineHubCommand } from '../../hub/hub-command.ts';
import type { HubSession } from '../../hub/hub-session.ts';
import { formatClock } from '../../terminal/duration.ts';
import type { Io } from '../../terminal/io.ts';
import { oneLine, stripSequences, textWidth } from '../../terminal/text.ts';
import { callLine } from '../../words/activity-text.ts';
import { colorStatus, shortId, statusText } from '../../words/job-text.ts';
import { choicesOf, kindWords } from '../../words/question-text.ts';
import type { JobCall } from './watch-calls.ts';
import { followWorkspace, type WatchData } from './watch-feed.ts';
import { renderScreen } from './watch-screen.ts';
import { type Effect, firstState, type Key, openQuestion, pressKey } from './watch-state.ts';
import { openTerminal } from './watch-terminal.ts';

/** Ages are shown in their largest unit. */
const CLOCK_MS = 10_000;

/**
 * `signalbox watch`: a live view of jobs and open questions, in which questions are answered by
 * keys. Without a terminal: a line for each change, and for each tool call that has ended. With
 * `--json`: `{job}`, `{uncertainty}` and `{jobId, toolCall}`, one document a line.
 */
export const command = defineHubCommand({
  json: 'print a JSON line for each change',
  examples: [
    ['signalbox watch', 'jobs and questions, until q or Ctrl-C'],
    ['signalbox watch | tee log', 'a line for each change'],
  ],

  async run({ io, session }) {
    if (io.isInteractive) await showScreen(io, session);
    else await printChanges(io, session);
  },
});

const firstData: WatchData = {
  jobs: [],
  questions: [],
  calls: new Map(),
  endedCalls: [],
  counts: { pending: 0, running: 0, done: 0, failed: 0, blocked: 0, canceled: 0 },
  capped: [],
};

/** Shows the view until the person ends it. */
async function showScreen(io: Io, session: HubSession): Promise<void> {
  const quitting = new AbortController();
  const signal = AbortSignal.any([io.signal, quitting.signal]);
  let data = firstData;
  let state = { ...firstState, message: 'Reading …' };
  const { workspaceId, workspaceSlug } = session;
  const terminal = openTerminal(io, { key, resize: show });

  function show(): void {
    const frame = {
      ...terminal.size(),
      styles: io.styles,
      nowMs: Date.now(),
      workspace: workspaceSlug ?? workspaceId,
    };
    terminal.paint(renderScreen(data, state, frame));
  }

  function key(pressed: Key): void {
    const { state: next, effect } = pressKey(state, data, pressed);
    state = next;
    show();
    if (effect?.do === 'quit') quitting.abort();
    else if (effect !== null) void perform(effect);
  }

  async function perform(effect: Exclude<Effect, { do: 'quit' }>): Promise<void> {
    try {
      state = { ...state, ...(await performAt(session, effect, signal)) };
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError) && !(error instanceof UnreachableError)) throw error;
      // The question may have been answered meanwhile: the list shows what is open.
      state = { ...state, open: null, job: null, message: error.message };
    }
    show();
  }

  const clock = setInterval(show, CLOCK_MS);
  try {
    for await (const next of followWorkspace(session, signal)) {
      data = next;
      if (state.message === 'Reading …') state = { ...state, message: '' };
      show();
    }
  } catch (error) {
    if (!quitting.signal.aborted) throw error;
  } finally {
    clearInterval(clock);
    terminal.end();
  }
}

async function performAt(
  { client, workspaceId }: HubSession,
  effect: Exclude<Effect, { do: 'quit' }>,
  signal: AbortSignal,
) {
  if (effect.do === 'open-job') {
    const request = { workspaceId, jobId: effect.jobId };
    const { job } = await client.jobs.get(request, { signal });
    return { job: { job, scrolled: 0 }, message: '' };
  }
  const { uncertaintyId } = effect;
  if (effect.do === 'open') {
    const request = { workspaceId, uncertaintyId };
    const { uncertainty: asked } = await client.uncertainties.get(request, { signal });
    return { open: openQuestion(asked, choicesOf(asked)), message: '' };
  }
  const { mode, value } = effect;
  await client.uncertainties.addResolution(
    { workspaceId, uncertaintyId, mode, value, confidence: 1 },
    { signal },
  );
  const message = mode === 'dismissed' ? 'Dismissed the question.' : `Answered: ${value}`;
  return { open: null, message };
}

/** Prints a line for each change, until the command is interrupted. */
async function printChanges(io: Io, session: HubSession): Promise<void> {
  const statuses = new Map<string, string>();
  const open = new Map<string, ListedUncertainty>();
  for await (const next of followWorkspace(session, io.signal)) {
    const { jobs, questions, endedCalls } = next;
    for (const call of endedCalls) {
      if (io.json) io.printJson(call);
      else io.print(callEnd(io, call));
    }
    // Jobs are read with the latest first.
    for (const job of jobs.toReversed()) {
      if (statuses.get(job.jobId) === job.status) continue;
      statuses.set(job.jobId, job.status);
      if (io.json) io.printJson({ job });
      else io.print(jobChange(io, job));
    }
    for (const each of questions) {
      if (open.has(each.uncertaintyId)) continue;
      open.set(each.uncertaintyId, each);
      if (io.json) io.printJson({ uncertainty: each });
      else io.print(questionChange(io, each));
    }
  }
}

function jobChange({ styles }: Io, { jobId, status, title }: ListedJob): string {
  const shown = colorStatus(styles, status, statusText(status).padEnd(10));
  return `${styles.dim(formatClock(new Date()))}  ${shown}  ${shortId(jobId)}  ${oneLine(title)}`;
}

function callEnd({ styles, columns }: Io, { jobId, toolCall: call }: JobCall): string {
  const begin = `${styles.dim(formatClock(new Date()))}  ${'→ call'.padEnd(10)}  ${shortId(jobId)}  `;
  const width = columns - textWidth(stripSequences(begin));
  return begin + callLine(styles, { text: call.title, call, isEnded: false, width, look: 'dim' });
}

function questionChange({ styles }: Io, { uncertaintyId, kind, title }: ListedUncertainty): string {
  const shown = styles.yellow(`◆ ${kindWords[kind]}`.padEnd(10));
  const id = shortId(uncertaintyId);
  return `${styles.dim(formatClock(new Date()))}  ${shown}  ${id}  ${oneLine(title)}`;
}

import type { AgentEvent, StopReason } from '@signalbox/agent';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import type { HubSession } from '../../hub/hub-session.ts';
import type { LinkedClone } from '../../hub/linked-clones.ts';
import { formatDuration } from '../../terminal/duration.ts';
import type { Io, Styles } from '../../terminal/io.ts';
import { gistOf } from '../../terminal/markdown-text.ts';
import { printFields } from '../../terminal/table.ts';
import { oneLine, truncateText } from '../../terminal/text.ts';
import { exitCodeOf, shortId } from '../../words/job-text.ts';
import { verdictTexts } from '../../words/landing-text.ts';
import { createEventLog, describeLifecycle, type Entry, type EventLog } from './event-log.ts';

export interface AgentLog extends EventLog<AgentEvent> {
  sayStart(start: AgentStart): void;
}

interface AgentStart {
  name: string;
  session: HubSession;
  /** The configuration file; null: the agent has none. */
  file: string | null;
  /** The tool of all clones; null: they have several. */
  tool: string | null;
  clones: readonly (Pick<LinkedClone, 'label' | 'path'> & {
    tool: string;
    /** Null: by the person's configuration, if at all. */
    setup: string | null;
  })[];
  /** How the tools are kept from the machine. */
  isolation: string;
  jobs: string;
  /** Sentences. */
  warnings: readonly string[];
}

type Finished = Extract<AgentEvent, { type: 'job-finished' }>;
type Result = Extract<AgentEvent, { type: 'result-accepted' | 'result-refused' }>;

/** The end of a job's work, in words. */
interface Ended {
  event: Finished;
  end: string;
}

const RETURNED = 'returned to the queue';

/** Longer lines are hard to read. A pipe has no width of its own. */
const LINE_WIDTH_MAX = 120;
/** Width of clock, mark and short ID before a text. */
const LEAD_WIDTH = 22;
/** A line that changes in place must not wrap, and terminals wrap at their last column. */
const LAST_COLUMN = 1;
/** Continuation lines of an event are indented to its mark. */
const INDENT = ' '.repeat(12);

/** The end of a job whose result is not reported. */
const unreportedEnds: Readonly<Record<StopReason, string>> = {
  canceled: 'canceled',
  lease_lost: 'lost to another agent',
  agent_stopped: RETURNED,
  time_limit: RETURNED,
  budget_spent: 'ended',
};

/** No result follows these stops, so they determine the exit code. */
const codesOfStops: Partial<Readonly<Record<StopReason, ExitCode>>> = {
  canceled: exitCodes.canceled,
  lease_lost: exitCodes.failed,
};

export function createAgentLog(io: Io): AgentLog {
  const { styles } = io;
  const width = Math.min(io.columns, LINE_WIDTH_MAX);
  const startedAtMs = new Map<string, number>();
  const stops = new Map<string, StopReason>();
  /** Failed jobs, until the hub says whether it ends them or returns them to the queue. */
  const failed = new Map<string, Ended>();
  let isReachable = true;

  function describe(event: AgentEvent): readonly Entry[] {
    if (event.type === 'job-claimed') startedAtMs.set(event.job.jobId, performance.now());
    if (event.type === 'job-stopping') stops.set(event.jobId, event.reason);
    if (event.type === 'job-finished') return describeFinished(event);
    if (event.type === 'hub-unreachable') isReachable = false;
    if (event.type === 'hub-back') isReachable = true;
    if (event.type === 'result-accepted' || event.type === 'result-refused') {
      return describeResult(event);
    }
    const line = describeEvent(event, styles, width);
    const isWaitOver = event.type === 'hub-unreachable' || event.type === 'offline';
    const before = isWaitOver ? [...failed.keys()].flatMap(takeFailed) : [];
    return line === null ? before : [...before, [line]];
  }

  function describeFinished(event: Finished): Entry[] {
    const { jobId, outcome } = event;
    const beganMs = startedAtMs.get(jobId);
    const took = beganMs === undefined ? '' : ` in ${formatDuration(performance.now() - beganMs)}`;
    const end = outcome ?? unreportedEnds[stops.get(jobId) ?? 'agent_stopped'];
    startedAtMs.delete(jobId);
    stops.delete(jobId);
    const ended = { event, end: end + took };
    if (outcome !== 'failed' || !isReachable) return [entryOf(ended, markOf(outcome, styles))];
    failed.set(jobId, ended);
    return [];
  }

  function describeResult(event: Result): Entry[] {
    const { jobId } = event;
    const ended = failed.get(jobId);
    if (event.type === 'result-refused') {
      const text = `the hub rejected the result: ${oneLine(event.message)}`;
      return [...takeFailed(jobId), [`${styles.red('✖')} ${aboutJob(jobId, text, styles)}`]];
    }
    if (event.status !== 'pending') return takeFailed(jobId);
    const mark = styles.yellow('↻');
    if (ended === undefined) return [[`${mark} ${aboutJob(jobId, RETURNED, styles)}`]];
    failed.delete(jobId);
    return [entryOf({ ...ended, end: `${ended.end}, ${RETURNED}` }, mark)];
  }

  function takeFailed(jobId: string): Entry[] {
    const ended = failed.get(jobId);
    failed.delete(jobId);
    return ended === undefined ? [] : [entryOf(ended, styles.red('✖'))];
  }

  function entryOf({ event, end }: Ended, mark: string): Entry {
    const [first = '', ...more] = finishedTexts(event, end, { styles, width });
    const head = `${mark} ${aboutJob(event.jobId, first, styles)}`;
    return [head, ...more.map((line) => INDENT + line)];
  }

  return {
    ...createEventLog(io, describe, exitCodeAfter, workOf),
    sayStart(start) {
      if (!io.json) printStart(io, start);
    },
  };
}

function printStart(io: Io, start: AgentStart): void {
  const { name, session, file, tool, clones, isolation, jobs, warnings } = start;
  const { bold, dim } = io.styles;
  const { workspaceSlug, workspaceId, baseUrl } = session;
  printFields(io, [
    ['Agent', bold(oneLine(name))],
    ['Workspace', `${workspaceSlug ?? workspaceId} at ${baseUrl}`],
    ['Configuration', file],
    ['Tool', tool],
    ...clones.map((clone) => {
      const own = tool === null ? `  ${clone.tool}` : '';
      return ['Clone', `${oneLine(clone.label)}  ${dim(clone.path)}${own}`] as const;
    }),
    ...clones.flatMap(({ label, setup }) =>
      setup === null ? [] : [['Set-up', `${oneLine(label)}  ${setup}`] as const],
    ),
    ['Isolation', oneLine(isolation)],
    ['Jobs', jobs],
    ...warnings.map((warning) => ['Warning', oneLine(warning)] as const),
  ]);
  io.print();
}

function exitCodeAfter(event: AgentEvent): ExitCode | null {
  if (event.type === 'job-stopping') return codesOfStops[event.reason] ?? null;
  if (event.type === 'result-refused') return exitCodes.refused;
  if (event.type !== 'result-accepted') return null;
  const { status } = event;
  const isGood = status === 'done' || status === 'blocked' || status === 'canceled';
  return isGood ? exitCodeOf(status) : exitCodes.failed;
}

/** Finds the job of an event. Progress counts until the next event of its job. */
function workOf(event: AgentEvent): { id: string; isPassing: boolean } | null {
  if (event.type === 'job-progress') return { id: event.jobId, isPassing: true };
  return endTypes.has(event.type) && 'jobId' in event
    ? { id: event.jobId, isPassing: false }
    : null;
}

/** After these, nothing of a job is in progress. */
const endTypes: ReadonlySet<string> = new Set([
  'job-finished',
  'result-accepted',
  'result-refused',
]);

/** The line for an event; null if the event has none. */
function describeEvent(
  event: Exclude<AgentEvent, Finished | Result>,
  styles: Styles,
  width: number,
): string | null {
  const { dim, cyan, green, yellow } = styles;
  const about = (jobId: string, text: string) => aboutJob(jobId, text, styles);
  switch (event.type) {
    case 'job-claimed': {
      const again = event.attempt > 1 ? `, attempt ${event.attempt}` : '';
      const details = `· ${event.job.kind}${again}`;
      const space = width - LEAD_WIDTH - '“” '.length - details.length - LAST_COLUMN;
      const prompt = truncateText(oneLine(event.job.prompt), space);
      return `${cyan('▶')} ${about(event.job.jobId, `“${prompt}” ${dim(details)}`)}`;
    }
    case 'job-progress': {
      const message = truncateText(oneLine(event.message), width - LEAD_WIDTH - LAST_COLUMN);
      return `${dim('·')} ${about(event.jobId, dim(message))}`;
    }
    case 'patch-asked': {
      const who = oneLine(event.askedBy);
      return `${cyan('?')} ${about(event.jobId, `${who} asks for its changes`)}`;
    }
    case 'patch-shared':
      return `${green('✔')} ${about(event.jobId, 'its changes are shared')}`;
    case 'patch-refused':
      return `${yellow('◆')} ${about(event.jobId, `not shared: ${oneLine(event.message)}`)}`;
    case 'job-stopping':
      return `${yellow('■')} ${about(event.jobId, `stopping: ${oneLine(event.why)}`)}`;
    default:
      return describeLifecycle(event, styles);
  }
}

function markOf(outcome: string | null, { green, red, yellow }: Styles): string {
  if (outcome === 'done') return green('✔');
  return outcome === 'failed' ? red('✖') : yellow('◆');
}

function aboutJob(jobId: string, text: string, { bold }: Styles): string {
  return `${bold(shortId(jobId))}  ${text}`;
}

function finishedTexts(
  { outcome, commitSha, branch, verdict, message }: Finished,
  end: string,
  { styles, width }: { styles: Styles; width: number },
): string[] {
  const proved = verdict === null ? '' : ` · ${verdictTexts[verdict]}`;
  const commit = commitSha === null ? '' : ` · commit ${commitSha.slice(0, 10)}${proved}`;
  const nothing = commitSha === null && outcome === 'done' ? ' · no changes' : '';
  const lines = [end + commit + nothing];
  const said = truncateText(gistOf(message), width - INDENT.length);
  if (said !== '') lines.push(said);
  if (branch !== null && commitSha !== null) lines.push(styles.dim(branch));
  return lines;
}

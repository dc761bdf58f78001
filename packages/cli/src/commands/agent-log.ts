import type { AgentEvent, StopReason } from '@signalbox/agent';
import { formatClock, formatDuration } from '../duration.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { HubSession } from '../hub-session.ts';
import type { Io, Styles } from '../io.ts';
import { exitCodeOf, shortId } from '../job-text.ts';
import type { LinkedClone } from '../linked-clones.ts';
import { printFields } from '../table.ts';
import { oneLine, truncateText } from '../text.ts';

/** Shows what an agent does, a calm line at a time. */
export interface AgentLog {
  sayStart(start: AgentStart): void;
  say(text: string): void;
  onEvent(event: AgentEvent): void;
  /** What the last result means for the shell; 0 when there was none. */
  resultCode(): ExitCode;
}

export interface AgentStart {
  name: string;
  session: HubSession;
  tool: string;
  clones: readonly LinkedClone[];
  options: { jobs: number; once?: true };
}

type Finished = Extract<AgentEvent, { type: 'job-finished' }>;

/** Wider lines are hard to read, and a pipe has no width. */
const LINE_WIDTH_MAX = 120;
/** The clock, the mark and the short id before a text, and what stands behind a prompt. */
const LEAD_WIDTH = 22;
const TRAIL_WIDTH = 30;
/** Further lines of one event begin below its mark. */
const INDENT = ' '.repeat(12);

/** How work ends of which no result is reported. */
const unreportedEnds: Readonly<Record<StopReason, string>> = {
  canceled: 'canceled',
  lease_lost: 'lost to another agent',
  agent_stopped: 'given back',
  time_limit: 'given back',
};

/** No result follows these, so they decide by themselves what the shell is told. */
const codesOfStops: Partial<Readonly<Record<StopReason, ExitCode>>> = {
  canceled: exitCodes.canceled,
  lease_lost: exitCodes.failed,
};

export function createAgentLog(io: Io): AgentLog {
  const { styles } = io;
  const width = Math.min(io.columns, LINE_WIDTH_MAX);
  const startedAtMs = new Map<string, number>();
  const stops = new Map<string, StopReason>();
  let code: ExitCode = exitCodes.ok;

  return {
    sayStart(start) {
      if (!io.json) printStart(io, start);
    },
    say(text) {
      if (!io.json) io.note(text);
    },
    onEvent(event) {
      code = exitCodeAfter(event) ?? code;
      if (io.json) {
        io.printJson({ at: new Date().toISOString(), ...event });
        return;
      }
      if (event.type === 'job-claimed') startedAtMs.set(event.job.jobId, performance.now());
      if (event.type === 'job-stopping') stops.set(event.jobId, event.reason);
      const line =
        event.type === 'job-finished' ? sayFinished(event) : describeEvent(event, styles, width);
      if (line !== null) io.print(`${styles.dim(formatClock(new Date()))}  ${line}`);
    },
    resultCode: () => code,
  };

  function sayFinished(event: Finished): string {
    const { jobId, outcome } = event;
    const beganMs = startedAtMs.get(jobId);
    const took = beganMs === undefined ? '' : ` in ${formatDuration(performance.now() - beganMs)}`;
    const end = outcome ?? unreportedEnds[stops.get(jobId) ?? 'agent_stopped'];
    startedAtMs.delete(jobId);
    stops.delete(jobId);
    const text = finishedText(event, end + took, { styles, width });
    return `${markOf(outcome, styles)} ${aboutJob(jobId, text, styles)}`;
  }
}

function printStart(io: Io, { name, session, tool, clones, options }: AgentStart): void {
  const { bold, dim } = io.styles;
  const { workspaceSlug, workspaceId, baseUrl } = session;
  printFields(io, [
    ['Agent', bold(oneLine(name))],
    ['Workspace', `${workspaceSlug ?? workspaceId} at ${baseUrl}`],
    ['Tool', tool],
    ...clones.map(({ label, path }) => ['Clone', `${oneLine(label)}  ${dim(path)}`] as const),
    ['Jobs', options.once ? 'one, then exit' : `${options.jobs} at a time`],
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

/** The line for an event; null for what needs none. */
function describeEvent(
  event: Exclude<AgentEvent, Finished>,
  styles: Styles,
  width: number,
): string | null {
  const { dim, cyan, green, yellow, red } = styles;
  const about = (jobId: string, text: string) => aboutJob(jobId, text, styles);
  switch (event.type) {
    case 'online':
      return `${green('●')} online, waiting for jobs`;
    case 'hub-unreachable':
      return `${yellow('●')} ${oneLine(event.message)} Work goes on; still trying.`;
    case 'hub-back':
      return `${green('●')} the hub is back`;
    case 'job-claimed': {
      const prompt = truncateText(oneLine(event.job.prompt), width - LEAD_WIDTH - TRAIL_WIDTH);
      const kind = dim(`· ${event.job.kind}, attempt ${event.attempt}`);
      return `${cyan('▶')} ${about(event.job.jobId, `“${prompt}” ${kind}`)}`;
    }
    case 'job-progress':
      return `${dim('·')} ${about(event.jobId, dim(oneLine(event.message)))}`;
    case 'job-stopping':
      return `${yellow('■')} ${about(event.jobId, `stopping: ${oneLine(event.why)}`)}`;
    case 'result-accepted':
      if (event.status !== 'pending') return null;
      return `${yellow('↻')} ${about(event.jobId, 'goes back to the queue')}`;
    case 'result-refused': {
      const text = `the hub refuses the result: ${oneLine(event.message)}`;
      return `${red('✖')} ${about(event.jobId, text)}`;
    }
    case 'draining':
      return `${dim('●')} ${event.byHub ? 'draining, as the hub asks' : 'taking no more jobs'}`;
    case 'resumed':
      return `${green('●')} taking jobs again`;
    case 'offline':
      return `${dim('○')} offline`;
  }
}

function markOf(outcome: string | null, { green, red, yellow }: Styles): string {
  if (outcome === 'done') return green('✔');
  return outcome === 'failed' ? red('✖') : yellow('◆');
}

function aboutJob(jobId: string, text: string, { bold }: Styles): string {
  return `${bold(shortId(jobId))}  ${text}`;
}

function finishedText(
  { commitSha, branch, message }: Finished,
  end: string,
  { styles, width }: { styles: Styles; width: number },
): string {
  const lines = [commitSha === null ? end : `${end} · commit ${commitSha.slice(0, 10)}`];
  const said = truncateText(oneLine(message), width - INDENT.length);
  if (said !== '') lines.push(said);
  if (branch !== null && commitSha !== null) lines.push(styles.dim(branch));
  return lines.join(`\n${INDENT}`);
}

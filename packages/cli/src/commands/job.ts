import {
  JOB_EVENTS_LIMIT_MAX,
  type Job,
  type JobAttempt,
  type JobMessage,
  type JobRound,
  type WaitingFor,
  type Work,
} from '@signalbox/contract';
import { findJobId } from '../find/job-reference.ts';
import { readAgentNames } from '../find/names.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import type { HubSession } from '../hub/hub-session.ts';
import { followJob } from '../hub/job-follow.ts';
import {
  formatDuration,
  formatMoment,
  formatUntil,
  parseDurationMs,
} from '../terminal/duration.ts';
import type { Io } from '../terminal/io.ts';
import { isPlainLine, printMarkdown } from '../terminal/markdown-text.ts';
import { parseInteger } from '../terminal/numbers.ts';
import { printFields, printTable } from '../terminal/table.ts';
import { cleanText, oneLine, wrapLine } from '../terminal/text.ts';
import { requestText } from '../words/changes-text.ts';
import {
  attemptText,
  baseText,
  branchText,
  changeText,
  colorStatus,
  decisionLines,
  exitCodeOf,
  isolationText,
  modelTexts,
  reasonText,
  refusedText,
  shortId,
  statusText,
  toolAndModel,
  toolText,
  unaskedText,
  usageText,
} from '../words/job-text.ts';
import {
  colorVerdict,
  printProof,
  printReported,
  readEvidence,
  verdictTexts,
} from '../words/landing-text.ts';
import { createTimelinePrinter } from '../words/timeline.ts';
import { stateText } from '../words/work-text.ts';

interface Options {
  follow?: true;
  timeout?: number;
  events: number;
}

const EVENTS_SHOWN = 200;
const PROMPT_LINES_SHOWN = 12;

/**
 * `signalbox job ID`: shows a job, what it waits for, and its timeline. With `--json`: `{ok, job,
 * queuePosition, waitingFor, attempts, rounds, messages, takesMessages, events, work,
 * changesPlace}`; with `--follow`, lines `{event}` and a final line `{job}`.
 */
export const command = defineHubCommand<Options>({
  describe(program) {
    const limits = { min: 1, max: JOB_EVENTS_LIMIT_MAX };
    program
      .argument('<id>', 'a job, by its ID or the end of it, as shown by signalbox jobs')
      .option('-f, --follow', 'follow the timeline; exit with the outcome')
      .option(
        '--timeout <time>',
        'with --follow: stop waiting after this time, such as 30m',
        parseDurationMs,
      )
      .option(
        '--events <number>',
        'number of latest events to show',
        parseInteger(limits),
        EVENTS_SHOWN,
      );
  },

  examples: [
    ['signalbox job 8f3a1c2d', 'one job'],
    ['signalbox job 8f3a1c2d --follow', 'live, until it ends'],
  ],

  async run({ io, args, options, session }) {
    const jobId = await findJobId(session, args[0] ?? '');
    if (options.follow && io.json) return await follow(io, session, jobId, options, 0);
    const { client, workspaceId } = session;
    const {
      job,
      queuePosition,
      waitingFor,
      attempts = [],
      rounds = [],
      messages = [],
      takesMessages = false,
      work,
      changesPlace,
    } = await client.jobs.get({ workspaceId, jobId });
    const { events, nextAfter } = await client.jobEvents.listForJob({
      workspaceId,
      jobId,
      limit: options.events,
    });
    if (io.json) {
      const parts = { attempts, rounds, messages, takesMessages, events, work: work ?? null };
      const place = { changesPlace: changesPlace ?? null };
      return io.printJson({ ok: true, job, queuePosition, waitingFor, ...parts, ...place });
    }
    const names = await readAgentNames(session);
    printJob(io, job, rounds, names);
    if (work !== undefined) printWork(io, work);
    if (changesPlace !== undefined) printFields(io, [['Changes', requestText(changesPlace)]]);
    printAttempts(io, attempts);
    printMessages(io, messages, takesMessages);
    printWaiting(io, waitingFor, queuePosition);
    io.print();
    const printer = createTimelinePrinter(io, names);
    printer.print(events);
    printer.end();
    if (options.follow) return await follow(io, session, jobId, options, nextAfter);
  },
});

async function follow(
  io: Io,
  session: HubSession,
  jobId: string,
  { timeout: timeoutMs }: Options,
  after: number,
) {
  const { status } = await followJob(io, session, jobId, { timeoutMs, after });
  return exitCodeOf(status);
}

function printJob(
  io: Io,
  job: Job,
  rounds: readonly JobRound[],
  agentNames: ReadonlyMap<string, string>,
): void {
  const { bold } = io.styles;
  const { agentId, status } = job;
  const message = job.message ?? '';
  io.print(`${colorStatus(io.styles, status, statusText(status))}  ${bold(job.jobId)}`);
  io.print();
  const text = cleanText(job.prompt).trimEnd().split('\n');
  const lines = text.flatMap((line) => wrapLine(line, io.columns - 2));
  for (const line of lines.slice(0, PROMPT_LINES_SHOWN)) io.print(`  ${line}`);
  const more = lines.length - PROMPT_LINES_SHOWN;
  if (more > 0) io.print(io.styles.dim(`  … ${more} more line${more === 1 ? '' : 's'}`));
  io.print();
  printFields(io, [
    ['Kind', `${job.kind}, ${oneLine(job.role)}`],
    ['Priority', job.priority === 0 ? null : String(job.priority)],
    ['Round', roundText(job, rounds)],
    ['Reviews', job.reviewsJobId === undefined ? null : shortId(job.reviewsJobId)],
    ['Attempt', attemptText(job)],
    ['Attached', job.attachments?.map(({ fileName }) => oneLine(fileName)).join(', ') ?? null],
    ['Agent', agentId === null ? null : (agentNames.get(agentId) ?? agentId)],
    ['Enqueued', enqueuedText(job)],
    ['Started', job.startedAt === null ? null : formatMoment(job.startedAt)],
    ['Finished', job.finishedAt === null ? null : formatMoment(job.finishedAt)],
    ['After', job.dependsOn.length === 0 ? null : job.dependsOn.map(shortId).join(', ')],
    ['Builds on', baseText(job)],
    ['Result', isPlainLine(message) ? oneLine(message) || null : null],
    ['Reason', oneLine(reasonText(job.outcomeReason) ?? '') || null],
    ...evidenceFields(io, job),
  ]);
  if (!isPlainLine(message)) {
    io.print();
    io.print(io.styles.dim('Result'));
    printMarkdown(io, message);
  }
  printProof(io, readEvidence(job.evidence));
  printReported(io, job.evidence);
  printDecisions(io, job);
}

/** Prints the state of the work, and what it lacks. A work without a result has none to show. */
function printWork(io: Io, work: Work): void {
  if (work.state === 'open') return;
  printFields(io, [
    ['Work', stateText(work)],
    ...work.missing.map((text): [string, string] => ['Missing', oneLine(text)]),
    ['Landing', work.landing?.reason == null ? null : oneLine(work.landing.reason)],
  ]);
}

function enqueuedText({ createdAt, createdBy }: Job): string {
  const name = oneLine(createdBy.name ?? '');
  return `${formatMoment(createdAt)}${name === '' ? '' : ` by ${name}`}`;
}

function roundText({ round, continuesJobId }: Job, rounds: readonly JobRound[]): string | null {
  const last = rounds.at(-1)?.round ?? round;
  if (last < 2) return null;
  const before = continuesJobId === null ? '' : `, continues ${shortId(continuesJobId)}`;
  return `${round} of ${last}${before}`;
}

/** Prints the messages to the job, each with its state. */
function printMessages(io: Io, messages: readonly JobMessage[], takesMessages: boolean): void {
  if (messages.length === 0) return;
  io.print();
  io.print(io.styles.dim('Messages'));
  for (const message of messages) {
    const who = oneLine(message.author.name ?? message.author.id);
    const state = messageState(message, takesMessages);
    const about = `${who}, ${formatMoment(message.createdAt)}; ${state}`;
    for (const shown of wrapLine(`${oneLine(message.text)} (${about})`, io.columns - 2)) {
      io.print(`  ${shown}`);
    }
  }
}

function messageState(
  { state, deliveredAt, nextJobId }: JobMessage,
  takesMessages: boolean,
): string {
  if (state === 'next_round') return `in the next round, ${shortId(nextJobId ?? '')}`;
  if (state === 'delivered') return `delivered ${formatMoment(deliveredAt ?? '')}`;
  return takesMessages ? 'waits for the end of this turn' : 'waits for the next round';
}

/** Prints the decisions about the job, each with its time. */
function printDecisions(io: Io, job: Job): void {
  if (job.decisions.length === 0) return;
  io.print();
  io.print(io.styles.dim('Decisions'));
  for (const [at, line] of decisionLines(job).entries()) {
    const when = formatMoment(job.decisions[at]?.resolvedAt ?? job.createdAt);
    for (const shown of wrapLine(`${line} (${when})`, io.columns - 2)) io.print(`  ${shown}`);
  }
}

function evidenceFields({ styles }: Io, job: Job): [string, string | null][] {
  const shown = (text: string | null) => (text === null ? null : oneLine(text));
  const refused = shown(refusedText(job));
  const { yellow } = styles;
  const { verdict } = job;
  const { pushedTo, pullRequestUrl } = readEvidence(job.evidence);
  return [
    ['Evidence', job.changed === false ? yellow(changeText(job) ?? '') : changeText(job)],
    ['Branch', shown(branchText(job))],
    ['Verdict', verdict === null ? null : colorVerdict(styles, verdict, verdictTexts[verdict])],
    ['Pushed', shown(pushedTo)],
    ['Review', shown(pullRequestUrl)],
    ['Tool', shown(toolText(job) ?? (toolAndModel(job) || null))],
    ['Isolation', shown(isolationText(job))],
    ['Usage', shown(usageText(job))],
    ...modelTexts(job).map((text): [string, string] => ['', oneLine(text)]),
    ['Refused', refused === null ? null : yellow(refused)],
    ['Unasked', shown(unaskedText(job))],
  ];
}

/** Compares the attempts of a job that has several. */
function printAttempts(io: Io, attempts: readonly JobAttempt[]): void {
  if (attempts.length < 2) return;
  io.print();
  printTable<JobAttempt>(
    io,
    [
      { title: 'ATTEMPT', text: ({ attempt }) => String(attempt) },
      { title: 'OUTCOME', text: ({ outcome, verdict }) => outcomeText(outcome, verdict) },
      { title: 'TOOL', text: ({ tool }) => oneLine(tool ?? '–'), isFlexible: true },
      { title: 'MODEL', text: ({ model }) => oneLine(model ?? '–'), isOptional: true },
      { title: 'TIME', text: attemptTime },
      { title: 'COST', text: ({ usage }) => costOf(usage), isOptional: true },
      { title: 'TOKENS', text: ({ usage }) => tokensOf(usage), isOptional: true },
    ],
    attempts,
  );
}

function outcomeText(outcome: JobAttempt['outcome'], verdict: JobAttempt['verdict']): string {
  if (outcome === null) return '–';
  return verdict === null ? outcome : `${outcome}, ${verdictTexts[verdict]}`;
}

function attemptTime({ startedAt, endedAt }: JobAttempt): string {
  if (startedAt === null || endedAt === null) return '–';
  return formatDuration(Date.parse(endedAt) - Date.parse(startedAt));
}

function costOf(usage: JobAttempt['usage']): string {
  return usage?.costUsd === undefined ? '–' : `$${usage.costUsd.toFixed(2)}`;
}

function tokensOf(usage: JobAttempt['usage']): string {
  if (usage === null) return '–';
  return ((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)).toLocaleString('en');
}

function printWaiting(io: Io, waitingFor: WaitingFor | null, queuePosition: number | null): void {
  if (waitingFor === null) return;
  const place =
    queuePosition === null ? '' : ` (position ${queuePosition} in its repository's queue)`;
  io.print();
  const { message, until, agents = [] } = waitingFor;
  // The hub names a time as on the wire; people read that of their clock.
  const shown = until === undefined ? message : message.replaceAll(until, formatUntil(until));
  io.print(`${io.styles.yellow('Waits:')} ${oneLine(shown)}${place}`);
  for (const { agentId, displayName, obstacle, until: end } of agents) {
    const rest = end === undefined ? '' : ` (until ${formatUntil(end)})`;
    io.print(`       ${oneLine(displayName) || agentId} ${oneLine(obstacle)}${rest}`);
  }
}

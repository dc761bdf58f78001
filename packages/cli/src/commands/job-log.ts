import {
  ACTIVITIES_LIMIT_MAX,
  type ActivityItem,
  LOG_LINES_MAX,
  LOG_MATCHES_MAX,
  LOG_SEARCH_CHARS_MAX,
  type ToolCall,
} from '@signalbox/contract';
import { InvalidArgumentError } from 'commander';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { findJobId } from '../find/job-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import type { HubSession } from '../hub/hub-session.ts';
import { printRawLog } from '../hub/job-log-download.ts';
import type { Io } from '../terminal/io.ts';
import { parseInteger } from '../terminal/numbers.ts';
import { cleanStyledLine, cleanText } from '../terminal/text.ts';
import { callLine, callsByLine } from '../words/activity-text.ts';

interface Options {
  attempt?: number;
  lines?: LineRange;
  tail?: number;
  search?: string;
  calls?: true;
  raw?: true;
}

interface LineRange {
  first: number;
  /** Null: to the end. */
  last: number | null;
}

type LogRef = { workspaceId: string; jobId: string; attempt: number | undefined };
type LogPage = Awaited<ReturnType<HubSession['client']['jobs']['log']>>;

/**
 * `signalbox job log ID`: prints the output of an attempt as text, whole or some lines. With
 * `--json`: `{ok, attempt, attempts, totalLines, sizeBytes, isEnded, lines, nextLine, activities}`,
 * the latter as `jobs/activity` returns them; with `--search`: `{ok, attempt, matches}`, each
 * `{line, text}`; with `--calls`: `{ok, attempt, calls}`, each `{line, at, …}` with the fields of a
 * tool call in its latest state. On a terminal, a tool call has its state behind it.
 */
export const command = defineHubCommand<Options>({
  describe(program) {
    program
      .argument('<id>', 'a job, by its ID or the end of it, as shown by signalbox jobs')
      .option(
        '--attempt <number>',
        'the attempt (default: the latest)',
        parseInteger({ min: 1, max: 1_000_000 }),
      )
      .option('--lines <range>', 'only these lines, such as 100-200, 100- or 7', parseRange)
      .option(
        '--tail <number>',
        'only the last lines',
        parseInteger({ min: 1, max: LOG_LINES_MAX }),
      )
      .option('--search <text>', 'only lines that contain this text, in any case, with numbers')
      .option('--calls', 'only the tool calls, with numbers and their state')
      .option('--raw', 'the bytes as the tool wrote them, with control sequences');
  },

  examples: [
    ['signalbox job log 8f3a1c2d | less -R', 'the whole output'],
    ['signalbox job log 8f3a1c2d --search error', 'numbered lines with this text'],
    ['signalbox job log 8f3a1c2d --calls', 'what the tool did, a line for each call'],
    ['signalbox job log 8f3a1c2d --lines 100-200', 'some lines'],
    ['signalbox job log 8f3a1c2d --raw > job.log', 'into a file'],
  ],

  check: refuseUnclear,

  async run({ io, args, options, session }) {
    const jobId = await findJobId(session, args[0] ?? '');
    const { workspaceId } = session;
    const { attempt, search, calls } = options;
    const ref = { workspaceId, jobId, attempt };
    if (options.raw) return await printRawLog(io, session, ref);
    if (search !== undefined) return await printMatches(io, session, ref, search);
    if (calls) return await printCalls(io, session, ref);
    return await printLines(io, session, ref, options);
  },
});

/** @throws {CliError} USAGE: options that do not go together. */
function refuseUnclear({ lines, tail, search, calls, raw, json }: Options & { json?: true }): void {
  const refuse = (message: string) => new CliError(exitCodes.usage, 'USAGE', message);
  const parts = [lines, tail, search, calls, raw].filter((each) => each !== undefined);
  if (parts.length > 1)
    throw refuse('Give only one of --lines, --tail, --search, --calls and --raw.');
  if (raw && json) throw refuse('--raw prints bytes; leave out --json.');
  if (search !== undefined && (search === '' || search.length > LOG_SEARCH_CHARS_MAX)) {
    throw refuse(`--search takes a text of 1 to ${LOG_SEARCH_CHARS_MAX} characters.`);
  }
}

async function printLines(
  io: Io,
  session: HubSession,
  ref: LogRef,
  { lines: range, tail }: Options,
): Promise<undefined> {
  const kept: LogPage['lines'] = [];
  let last: LogPage | undefined;
  let activities: ActivityItem[] | undefined;
  let calls = new Map<number, ToolCall>();
  for await (const page of readPages(session, ref, { range, tail })) {
    last = page;
    // A pipe gets the text as it is.
    if (activities === undefined && (io.json || io.isColored)) {
      activities = await readActivities(session, { ...ref, attempt: page.attempt || 1 });
      calls = callsByLine(activities);
    }
    // A long log is printed as it comes, so that it takes no memory.
    if (io.json) kept.push(...page.lines);
    else
      for (const line of page.lines) io.printOutput(lineText(io, page, line, calls.get(line.line)));
  }
  if (io.json && last !== undefined) {
    const first = kept[0]?.line ?? 1;
    const shown = activities?.filter(
      ({ line }) => line >= first && line <= (kept.at(-1)?.line ?? 0),
    );
    return io.printJson({ ...last, lines: kept, activities: shown });
  }
  if (last?.totalLines === 0) io.note('This attempt has no output.');
}

async function* readPages(
  { client }: HubSession,
  ref: LogRef,
  { range, tail }: { range: LineRange | undefined; tail: number | undefined },
): AsyncGenerator<LogPage> {
  const end = range?.last ?? Infinity;
  let pinned = ref;
  let from = range?.first ?? 1;
  if (tail !== undefined) {
    const page = await client.jobs.log({ ...ref, limit: 1 });
    pinned = { ...ref, attempt: page.attempt || 1 };
    from = Math.max(1, page.totalLines - tail + 1);
  }
  for (;;) {
    const limit = Math.min(LOG_LINES_MAX, end - from + 1);
    const call = { ...pinned, fromLine: from, limit };
    const page = await client.jobs.log(call);
    yield page;
    // A retry in between would continue with the log of another attempt.
    pinned = { ...ref, attempt: page.attempt || 1 };
    from = page.nextLine;
    if (page.lines.length === 0 || from > page.totalLines || from > end) return;
  }
}

async function readActivities({ client }: HubSession, ref: LogRef): Promise<ActivityItem[]> {
  const found: ActivityItem[] = [];
  for (let after = 0; ; ) {
    const call = { ...ref, after, limit: ACTIVITIES_LIMIT_MAX };
    const page = await client.jobs.activity(call);
    // A page of long items is short, so only an empty one is the end.
    if (page.items.length === 0) return found;
    found.push(...page.items);
    after = page.nextAfter;
  }
}

/** Tool output is untrusted: on a terminal it keeps its colours and nothing else. */
function lineText(
  io: Io,
  { isEnded }: LogPage,
  { text, cut }: LogPage['lines'][number],
  call: ToolCall | undefined,
): string {
  if (call !== undefined) {
    return callLine(io.styles, { text, call, isEnded, width: io.columns });
  }
  const clean = io.isColored ? cleanStyledLine(text) : cleanText(text);
  return cut ? `${clean} … (cut; --raw has all of it)` : clean;
}

async function printCalls(io: Io, session: HubSession, ref: LogRef): Promise<undefined> {
  const log = await session.client.jobs.log({ ...ref, limit: 1 });
  const { attempt, isEnded } = log;
  const activities = await readActivities(session, { ...ref, attempt: attempt || 1 });
  const calls = [...callsByLine(activities)];
  if (io.json) {
    const times = new Map(activities.toReversed().map(({ line, at }) => [line, at]));
    const shown = calls.map(([line, call]) => ({ line, at: times.get(line), ...call }));
    return io.printJson({ ok: true, attempt, calls: shown });
  }
  for (const [line, call] of calls) {
    const number = `${line}: `;
    const width = io.columns - number.length;
    const text = callLine(io.styles, { text: call.title, call, isEnded, width });
    io.print(`${io.styles.dim(number)}${text}`);
  }
  if (calls.length === 0) io.note('The tool of this attempt has reported no calls.');
}

async function printMatches(
  io: Io,
  { client }: HubSession,
  ref: LogRef,
  text: string,
): Promise<undefined> {
  const { dim } = io.styles;
  const kept: { line: number; text: string }[] = [];
  let count = 0;
  let pinned = ref;
  let attempt = 0;
  for (let fromLine: number | null = 1; fromLine !== null; ) {
    const call = { ...pinned, text, fromLine, limit: LOG_MATCHES_MAX };
    const page = await client.jobs.searchLog(call);
    count += page.matches.length;
    if (io.json) kept.push(...page.matches);
    else
      for (const each of page.matches) io.print(`${dim(`${each.line}:`)} ${cleanText(each.text)}`);
    ({ attempt, nextLine: fromLine } = page);
    pinned = { ...ref, attempt: attempt || 1 };
  }
  if (io.json) return io.printJson({ ok: true, attempt, matches: kept });
  if (count === 0) io.note('No line contains this text.');
}

function parseRange(text: string): LineRange {
  const [, from = '', dash, to = ''] = /^(\d{1,15})(-)?(\d{1,15})?$/.exec(text) ?? [];
  const first = Number(from);
  const end = to === '' ? null : Number(to);
  const last = dash === undefined ? first : end;
  if (from === '' || first < 1 || (last !== null && last < first)) {
    throw new InvalidArgumentError('It must be lines such as 100-200, 100- or 7.');
  }
  return { first, last };
}

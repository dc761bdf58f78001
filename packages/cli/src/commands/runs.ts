import type { Run, RunJob } from '@signalbox/contract';
import { CliError } from '../cli-error.ts';
import { asTyped } from '../command-name.ts';
import { exitCodes } from '../exit-codes.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import type { HubSession } from '../hub/hub-session.ts';
import { formatAge } from '../terminal/duration.ts';
import type { Io } from '../terminal/io.ts';
import { parseInteger } from '../terminal/numbers.ts';
import { collectPages } from '../terminal/pages.ts';
import { printFields, printTable } from '../terminal/table.ts';
import { oneLine } from '../terminal/text.ts';
import { colorStatus, shortId, statusText } from '../words/job-text.ts';

type Options = { limit: number };

/** Short IDs and references are searched among this number of latest runs. */
const SEARCHED_RUNS_MAX = 1_000;
const SHORT_CHARS_MIN = 4;

/**
 * `signalbox runs [RUN]`: lists runs, or shows one with its jobs. With `--json`: `{ok, runs,
 * nextCursor}`, or the hub's overview of the run with `jobs` and `isCut`.
 */
export const command = defineHubCommand<Options>({
  describe(program) {
    program
      .argument('[run]', 'its ID, the end of it, or its reference')
      .option(
        '-n, --limit <number>',
        'maximum number of runs',
        parseInteger({ min: 1, max: 100_000 }),
        20,
      );
  },

  examples: [
    ['signalbox runs', 'the latest runs'],
    ['signalbox runs health-check', 'one run: milestones, jobs, cost'],
  ],

  async run({ io, args, options, session }) {
    const [name] = args;
    if (name === undefined) await listRuns(io, session, options.limit);
    else await showRun(io, session, await findRunId(session, name));
  },
});

async function listRuns(io: Io, { client, workspaceId }: HubSession, limit: number) {
  const { rows, nextCursor } = await collectPages(limit, async (page) => {
    const answer = await client.runs.list({ workspaceId, ...page });
    return { rows: answer.runs, nextCursor: answer.nextCursor };
  });
  if (io.json) return io.printJson({ ok: true, runs: rows, nextCursor });
  if (rows.length === 0) {
    io.print(asTyped('No runs yet. Plan one: signalbox enqueue "…" --kind create_run'));
    return;
  }
  const nowMs = Date.now();
  const { bold, dim } = io.styles;
  printTable<Run>(
    io,
    [
      { title: 'STATUS', text: ({ status }) => oneLine(status) },
      { title: 'RUN', text: ({ runId }) => shortId(runId), style: bold },
      { title: 'TITLE', text: titleOf, isFlexible: true },
      { title: 'CHANGED', text: ({ updatedAt }) => formatAge(updatedAt, nowMs), style: dim },
      {
        title: 'MILESTONE',
        text: ({ currentMilestone }) => oneLine(currentMilestone ?? '–'),
        style: dim,
        isOptional: true,
      },
    ],
    rows,
  );
  if (nextCursor !== null) io.note('More runs exist: add --limit N.');
}

async function showRun(io: Io, { client, workspaceId }: HubSession, runId: string) {
  const [overview, graph] = await Promise.all([
    client.runs.overview({ workspaceId, runId }),
    client.runs.graph({ workspaceId, runId }),
  ]);
  if (io.json) return io.printJson({ ...overview, jobs: graph.jobs, isCut: graph.isCut });
  const { run, milestones, usage } = overview;
  const { bold } = io.styles;
  const entered = milestones.flatMap(({ milestone }) => milestone ?? []);
  printFields(io, [
    ['Run', bold(titleOf(run))],
    ['ID', run.runId],
    ['Reference', oneLine(run.runRef)],
    ['Status', oneLine(run.status)],
    ['Goal', run.goal === null ? null : oneLine(run.goal)],
    ['Milestones', oneLine([...new Set(entered)].join(' → ')) || null],
    ['Cost', usage.jobsWithCost === 0 ? null : `$${usage.costUsd.toFixed(2)}`],
    ['Packs', overview.packs.length === 0 ? null : String(overview.packs.length)],
  ]);
  io.print();
  if (graph.jobs.length === 0) io.print('No jobs work towards it yet.');
  else printJobs(io, graph.jobs);
  if (graph.isCut) io.note(`Only the newest ${graph.jobs.length} jobs are shown.`);
}

function printJobs(io: Io, jobs: readonly RunJob[]): void {
  const { styles } = io;
  const afterOf = ({ parentJobId, dependsOn }: RunJob) =>
    [...new Set([parentJobId, ...dependsOn])].flatMap((id) => (id ? shortId(id) : [])).join(' ');
  printTable<RunJob>(
    io,
    [
      {
        title: 'STATUS',
        text: ({ status }) => statusText(status),
        style: (text, { status }) => colorStatus(styles, status, text),
      },
      { title: 'JOB', text: ({ jobId }) => shortId(jobId), style: styles.bold },
      { title: 'TITLE', text: ({ title }) => oneLine(title), isFlexible: true },
      { title: 'AFTER', text: (job) => afterOf(job) || '–', style: styles.dim, isOptional: true },
    ],
    jobs,
  );
}

function titleOf({ title, runRef }: Run): string {
  return oneLine(title || runRef);
}

/** @throws {CliError} RUN_NOT_FOUND, RUN_AMBIGUOUS. */
async function findRunId({ client, workspaceId }: HubSession, text: string): Promise<string> {
  if (/^run_[0-9a-z]{26,}$/.test(text)) return text;
  const { rows } = await collectPages(SEARCHED_RUNS_MAX, async (page) => {
    const answer = await client.runs.list({ workspaceId, ...page });
    return { rows: answer.runs, nextCursor: answer.nextCursor };
  });
  const named = rows.filter(({ runRef }) => runRef === text);
  const ending = text.length < SHORT_CHARS_MIN ? null : text.toLowerCase();
  const matching =
    named.length > 0 ? named : rows.filter(({ runId }) => ending && runId.endsWith(ending));
  const [first, ...others] = matching;
  const shown = oneLine(text).slice(0, 60);
  if (first === undefined) {
    const message = `No run has the ID or reference "${shown}".`;
    throw new CliError(exitCodes.refused, 'RUN_NOT_FOUND', message, {
      fix: 'List runs: signalbox runs',
    });
  }
  if (others.length === 0) return first.runId;
  const ids = matching.map(({ runId }) => runId).join(', ');
  throw new CliError(exitCodes.usage, 'RUN_AMBIGUOUS', `Several runs match "${shown}": ${ids}.`, {
    fix: 'Give the whole ID.',
  });
}

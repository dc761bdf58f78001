import type { Run, RunJob } from '@signalbox/contract';
import { asTyped } from '../command-name.ts';
import { findIdByName } from '../find/id-reference.ts';
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
const runIds = {
  prefix: 'run',
  name: 'run',
  code: 'RUN',
  named: 'No run has the ID or reference',
  fix: 'List runs: signalbox runs',
};

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
  const { rows, nextCursor } = await collectPages(limit, 'runs', (page) =>
    client.runs.list({ workspaceId, ...page }),
  );
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
  return await findIdByName(runIds, text, async () => {
    const { rows } = await collectPages(SEARCHED_RUNS_MAX, 'runs', (page) =>
      client.runs.list({ workspaceId, ...page }),
    );
    return rows.map(({ runId, runRef }) => ({ id: runId, name: runRef }));
  });
}

import {
  type JobKind,
  type JobStatus,
  jobKinds,
  jobStatuses,
  type ListedJob,
} from '@signalbox/contract';
import { InvalidArgumentError, Option } from 'commander';
import { asTyped } from '../command-name.ts';
import { readAgentNames, readRepositoryLabels } from '../find/names.ts';
import { findRepository } from '../find/repository-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import { formatAge, parseDurationMs } from '../terminal/duration.ts';
import type { Io } from '../terminal/io.ts';
import { parseInteger } from '../terminal/numbers.ts';
import { collectPages } from '../terminal/pages.ts';
import { printTable } from '../terminal/table.ts';
import { oneLine } from '../terminal/text.ts';
import { listedStatus, shortId, toolAndModel } from '../words/job-text.ts';

interface Options {
  status?: JobStatus[];
  search?: string;
  searchLog?: string;
  since?: number;
  kind?: JobKind;
  repo?: string;
  run?: string;
  agent?: string;
  mine?: true;
  limit: number;
  all?: true;
  ended?: true;
  whole?: true;
}

/**
 * `signalbox jobs`: lists jobs, newest first. With `--json`: `{ok, jobs, nextCursor}`, with jobs as
 * in the hub's answer: summaries, or whole jobs with `--whole`.
 */
export const command = defineHubCommand<Options>({
  describe(program) {
    program
      .option(
        '--status <list>',
        `only jobs with one of these: ${jobStatuses.join(',')}`,
        readStatuses,
      )
      .addOption(new Option('--kind <kind>', 'only jobs of this kind').choices(jobKinds))
      .option('--repo <path|id>', 'only jobs of this repository, by a clone or an ID')
      .option('--run <id>', 'only jobs of this run')
      .option('--agent <id>', 'only jobs that this agent holds or held last')
      .option('--mine', 'only jobs that you enqueued')
      .option('--search <text>', 'only jobs with this text in title, ID, prompt or result')
      .option('--search-log <text>', 'only jobs with this text in their latest log')
      .option('--since <time>', 'only jobs enqueued within this time, such as 2d', parseDurationMs)
      .option(
        '--limit <number>',
        'maximum number of jobs',
        parseInteger({ min: 1, max: 100_000 }),
        20,
      )
      .option('--all', 'list all jobs')
      .option('--ended', 'also those whose work has landed or was closed')
      .option('--whole', 'with --json: whole jobs, with prompt and evidence');
  },

  examples: [
    ['signalbox jobs --status pending,running', 'waiting and running jobs'],
    ['signalbox jobs --mine --status failed', 'my jobs that failed'],
    ['signalbox jobs --search login --since 7d', 'this week, about the login'],
    ['signalbox jobs --search-log ECONNREFUSED', 'those whose log has this'],
    ['signalbox jobs --all --json | jq ".jobs[].jobId"', 'all IDs, for a script'],
  ],

  async run({ io, options, session, client, workspaceId }) {
    const { repo } = options;
    const repoId = repo === undefined ? undefined : await findRepository(io, session, repo);
    const filters = filtersOf(options, repoId);
    const workEnded = options.ended ? undefined : false;
    const view = options.whole && io.json ? 'whole' : 'summary';
    const rowsMax = options.all ? Infinity : options.limit;
    const { rows, nextCursor } = await collectPages(rowsMax, 'jobs', (page) =>
      client.jobs.list({ workspaceId, workEnded, ...filters, view, ...page }),
    );
    if (io.json) return io.printJson({ ok: true, jobs: rows, nextCursor });
    const isFiltered = Object.values(filters).some((value) => value !== undefined);
    if (rows.length === 0) {
      const none = asTyped('No jobs yet. Add one: signalbox enqueue "…"');
      io.print(isFiltered ? 'No matching jobs.' : none);
      return;
    }
    const isHeld = rows.some(({ agentId }) => agentId !== undefined);
    printJobs(io, rows, {
      agents: isHeld ? await readAgentNames(session) : new Map(),
      repositories: await readRepositoryLabels(session),
    });
    if (nextCursor !== null) io.note('More jobs exist: add --limit N or --all.');
  },
});

function filtersOf(options: Options, repoId: string | undefined) {
  const { status, kind, run, agent, mine, search, searchLog, since } = options;
  return {
    statuses: status,
    kind,
    repoId,
    runId: run,
    agentId: agent,
    mine,
    text: search,
    logText: searchLog,
    fromAt: since === undefined ? undefined : new Date(Date.now() - since).toISOString(),
  };
}

function printJobs(
  io: Io,
  jobs: readonly ListedJob[],
  names: Record<'agents' | 'repositories', ReadonlyMap<string, string>>,
): void {
  const { styles } = io;
  const nowMs = Date.now();
  printTable<ListedJob>(
    io,
    [
      {
        title: 'STATUS',
        text: (job) => listedStatus(styles, job).text,
        style: (text, job) => listedStatus(styles, job).style(text),
      },
      { title: 'JOB', text: ({ jobId }) => shortId(jobId), style: styles.bold },
      { title: 'KIND', text: ({ kind }) => kind, isOptional: true },
      {
        title: 'TITLE',
        text: ({ title, failure }) =>
          failure === undefined ? oneLine(title) : `${oneLine(title)} – ${oneLine(failure)}`,
        isFlexible: true,
      },
      { title: 'AGE', text: ({ createdAt }) => formatAge(createdAt, nowMs), style: styles.dim },
      {
        title: 'REPOSITORY',
        text: ({ repoId }) => names.repositories.get(repoId) ?? shortId(repoId),
        style: styles.dim,
        isOptional: true,
      },
      {
        title: 'TOOL',
        text: (job) => oneLine(toolAndModel(job)) || '–',
        style: styles.dim,
        isOptional: true,
      },
      {
        title: 'AGENT',
        text: (job) => nameOfHolder(job, names.agents),
        style: styles.dim,
        isOptional: true,
      },
    ],
    jobs,
  );
}

/** The agent of a pending job held it last and does not hold it. */
function nameOfHolder(
  { agentId, status }: ListedJob,
  agentNames: ReadonlyMap<string, string>,
): string {
  if (status === 'pending' || !agentId) return '–';
  return agentNames.get(agentId) ?? shortId(agentId);
}

function readStatuses(text: string): JobStatus[] {
  return text.split(',').map((word) => {
    const status = jobStatuses.find((known) => known === word.trim());
    if (status !== undefined) return status;
    throw new InvalidArgumentError(
      `It must be a list of ${jobStatuses.join(', ')}, not "${word}".`,
    );
  });
}

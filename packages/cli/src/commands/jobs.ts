import { type Job, type JobKind, type JobStatus, jobKinds, jobStatuses } from '@signalbox/contract';
import { Option } from 'commander';
import { readAgentNames } from '../agent-names.ts';
import {
  addExamples,
  addHubOptions,
  addJsonOption,
  defineCommand,
  type HubOptions,
} from '../command-module.ts';
import { formatAge } from '../duration.ts';
import { openHubSession } from '../hub-session.ts';
import type { Io } from '../io.ts';
import { colorStatus, shortId, statusText } from '../job-text.ts';
import { parseInteger } from '../numbers.ts';
import { collectPages } from '../pages.ts';
import { findRepository } from '../repository-reference.ts';
import { printTable } from '../table.ts';
import { oneLine } from '../text.ts';

interface Options extends HubOptions {
  status?: JobStatus;
  kind?: JobKind;
  repo?: string;
  run?: string;
  agent?: string;
  limit: number;
  all?: true;
}

/**
 * `signalbox jobs`: lists jobs, newest first. With `--json`: `{ok, jobs, nextCursor}`, with jobs as
 * in the hub's answer.
 */
export const command = defineCommand<Options>({
  describe(program) {
    program
      .addOption(new Option('--status <status>', 'only jobs with this status').choices(jobStatuses))
      .addOption(new Option('--kind <kind>', 'only jobs of this kind').choices(jobKinds))
      .option('--repo <path|id>', 'only jobs of this repository, by a clone or an ID')
      .option('--run <id>', 'only jobs of this run')
      .option('--agent <id>', 'only jobs that this agent holds or held last')
      .option(
        '--limit <number>',
        'maximum number of jobs',
        parseInteger({ min: 1, max: 100_000 }),
        20,
      )
      .option('--all', 'list all jobs');
    addJsonOption(program);
    addHubOptions(program);
    addExamples(program, [
      ['signalbox jobs --status pending', 'waiting jobs'],
      ['signalbox jobs --all --json | jq ".jobs[].jobId"', 'all IDs, for a script'],
    ]);
  },

  async run({ io, options }) {
    const session = await openHubSession(io, options);
    const { client, workspaceId } = session;
    const { status, kind, repo, run, agent } = options;
    const repoId = repo === undefined ? undefined : await findRepository(io, session, repo);
    const filters = {
      workspaceId,
      ...(status === undefined ? {} : { status }),
      ...(kind === undefined ? {} : { kind }),
      ...(repoId === undefined ? {} : { repoId }),
      ...(run === undefined ? {} : { runId: run }),
      ...(agent === undefined ? {} : { agentId: agent }),
    };
    const rowsMax = options.all ? Infinity : options.limit;
    const { rows, nextCursor } = await collectPages(rowsMax, async (page) => {
      const answer = await client.jobs.list({ ...filters, ...page }, { signal: io.signal });
      return { rows: answer.jobs, nextCursor: answer.nextCursor };
    });
    if (io.json) return io.printJson({ ok: true, jobs: rows, nextCursor });
    const isFiltered = Object.keys(filters).length > 1;
    if (rows.length === 0) {
      io.print(isFiltered ? 'No matching jobs.' : 'No jobs yet. Add one: signalbox enqueue "…"');
      return;
    }
    const isHeld = rows.some(({ agentId }) => agentId !== null);
    printJobs(io, rows, isHeld ? await readAgentNames(session, io.signal) : new Map());
    if (nextCursor !== null) io.note('More jobs exist: add --limit N or --all.');
  },
});

function printJobs(io: Io, jobs: readonly Job[], agentNames: ReadonlyMap<string, string>): void {
  const { styles } = io;
  const nowMs = Date.now();
  printTable<Job>(
    io,
    [
      {
        title: 'STATUS',
        text: ({ status }) => statusText(status),
        style: (text, { status }) => colorStatus(styles, status, text),
      },
      { title: 'JOB', text: ({ jobId }) => shortId(jobId), style: styles.bold },
      { title: 'KIND', text: ({ kind }) => kind },
      { title: 'PROMPT', text: ({ prompt }) => oneLine(prompt), isFlexible: true },
      { title: 'AGE', text: ({ createdAt }) => formatAge(createdAt, nowMs), style: styles.dim },
      {
        title: 'AGENT',
        text: ({ agentId }) =>
          agentId === null ? '–' : (agentNames.get(agentId) ?? shortId(agentId)),
        style: styles.dim,
      },
    ],
    jobs,
  );
}

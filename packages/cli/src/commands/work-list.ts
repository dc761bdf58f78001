import type { Job } from '@signalbox/contract';
import {
  addExamples,
  addHubOptions,
  addJsonOption,
  defineCommand,
  type HubOptions,
} from '../command-module.ts';
import { formatAge } from '../terminal/duration.ts';
import type { Io } from '../terminal/io.ts';
import { printTable } from '../terminal/table.ts';
import { oneLine } from '../terminal/text.ts';
import { colorStatus, shortId, statusText } from '../words/job-text.ts';
import { colorVerdict, verdictTexts } from '../words/landing-text.ts';
import { listWorkBranches } from '../work/branches.ts';
import { openClone } from '../work/clone-git.ts';
import { readWork, type Work, workJson } from '../work/work-view.ts';

/**
 * `signalbox work list`: lists the branches that agents made in the clone of the current directory,
 * one for a piece of work, with its latest round. With `--json`: `{ok, branches}`.
 */
export const command = defineCommand<HubOptions & { unmerged?: true }>({
  describe(program) {
    program.option('--unmerged', 'only those that are not merged yet');
    addJsonOption(program);
    addHubOptions(program);
    addExamples(program, [
      ['signalbox work list --unmerged', 'what is left to land'],
      ['signalbox work show 8f3a1c2d', 'one of them'],
    ]);
  },

  async run({ io, options }) {
    const all = await listWorkBranches(await openClone(io));
    const branches = options.unmerged ? all.filter(({ isMerged }) => !isMerged) : all;
    if (branches.length === 0 && !io.json) {
      io.print(all.length === 0 ? 'No agent has made a branch in this clone.' : 'All is merged.');
      return;
    }
    const works = latestRounds((await readWork(io, options, branches)).works);
    if (io.json) return io.printJson({ ok: true, branches: works.map(workJson) });
    printWorks(io, works);
    return undefined;
  },
});

/** Leaves out a branch if a later round of its work has another one here. */
function latestRounds(works: readonly Work[]): Work[] {
  const workOf = ({ jobId, workJobId }: Job) => workJobId ?? jobId;
  const isLater = (other: Job | null, job: Job) =>
    other !== null && workOf(other) === workOf(job) && other.round > job.round;
  return works.filter(({ job }) => job === null || !works.some((w) => isLater(w.job, job)));
}

function printWorks(io: Io, works: readonly Work[]): void {
  const { styles } = io;
  const nowMs = Date.now();
  printTable<Work>(
    io,
    [
      {
        title: 'STATUS',
        text: ({ job }) => (job === null ? '? unknown' : statusText(job.status)),
        style: (text, { job }) => (job === null ? text : colorStatus(styles, job.status, text)),
      },
      {
        title: 'JOB',
        text: ({ branch }) => shortId(branch.jobId),
        style: styles.bold,
      },
      { title: 'TRY', text: ({ branch }) => String(branch.attempt), isOptional: true },
      {
        title: 'VERDICT',
        text: ({ verdict }) => (verdict === null ? '–' : verdictTexts[verdict]),
        style: (text, { verdict }) => colorVerdict(styles, verdict, text),
      },
      {
        title: 'STATE',
        text: ({ state }) => (state === null ? '–' : state.state.replace('_', ' ')),
        isOptional: true,
      },
      {
        title: 'MERGED',
        text: ({ branch }) => (branch.isMerged ? 'yes' : 'no'),
        style: (text, { branch }) => (branch.isMerged ? styles.dim(text) : text),
      },
      {
        title: 'AGE',
        text: ({ branch }) => formatAge(branch.committedAt, nowMs),
        style: styles.dim,
        isOptional: true,
      },
      {
        title: 'TITLE',
        text: ({ job, branch }) => oneLine(job?.title ?? branch.name),
        isFlexible: true,
      },
    ],
    works,
  );
}

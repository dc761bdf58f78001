import type { KeptFiles } from '@signalbox/agent';
import type { Job } from '@signalbox/contract';
import { addHubOptions, defineCommand, type HubOptions } from '../../command-module.ts';
import { formatAge } from '../../terminal/duration.ts';
import type { Io } from '../../terminal/io.ts';
import { printTable } from '../../terminal/table.ts';
import { oneLine } from '../../terminal/text.ts';
import { colorStatus, shortId, statusText } from '../../words/job-text.ts';
import { colorVerdict, verdictTexts } from '../../words/landing-text.ts';
import { listWorkBranches } from '../../work/branches.ts';
import { openClone } from '../../work/clone-git.ts';
import { readWork, type Work, workJson } from '../../work/work-view.ts';
import {
  type AgentDisk,
  filesJson,
  formatSize,
  readAgentDisk,
  totalBytesOf,
} from './agent-disk.ts';

/**
 * `signalbox work list`: lists the branches that agents made in the clone of the current directory,
 * one for a piece of work, with its latest round, and the files that agents have on this machine.
 * With `--json`: `{ok, branches, worktrees, setups, totalBytes, warmWorktreesMax, setupsMax}`.
 */
export const command = defineCommand<HubOptions & { unmerged?: true }>({
  describe(program) {
    program.option('--unmerged', 'only those that are not merged yet');
  },

  chooseHub: addHubOptions,
  examples: [
    ['signalbox work list --unmerged', 'what is left to land'],
    ['signalbox work show 8f3a1c2d', 'one of them'],
  ],

  async run({ io, options }) {
    const clone = await openClone(io);
    const all = await listWorkBranches(clone);
    const branches = options.unmerged ? all.filter(({ isMerged }) => !isMerged) : all;
    const found = await readWork(io, options, branches);
    const works = latestRounds(found.works);
    const { files, ...limits } = await readAgentDisk(io, found.session, clone);
    if (io.json) {
      return io.printJson({
        ok: true,
        branches: works.map(workJson),
        ...filesJson(files),
        ...limits,
      });
    }
    if (branches.length > 0) printWorks(io, works);
    else
      io.print(all.length === 0 ? 'No agent has made a branch in this clone.' : 'All is merged.');
    if (files.length > 0) printFiles(io, { files, ...limits });
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

const kindTexts: Readonly<Record<KeptFiles['kind'], string>> = {
  job: 'job',
  session: 'session',
  kept: 'not published',
  warm: 'warm',
  setup: 'set-up',
};

function printFiles(io: Io, { files, warmWorktreesMax, setupsMax }: AgentDisk): void {
  io.print();
  printTable<KeptFiles>(
    io,
    [
      { title: 'FILES', text: ({ kind }) => kindTexts[kind] },
      { title: 'JOB', text: ({ jobId }) => (jobId === null ? '–' : shortId(jobId)) },
      { title: 'SIZE', text: ({ sizeBytes }) => formatSize(sizeBytes) },
      { title: 'PATH', text: ({ path }) => oneLine(path), isFlexible: true },
    ],
    files,
  );
  const limit = `${warmWorktreesMax ?? 0} warm worktrees and ${setupsMax} folders of set-up`;
  io.note(`${formatSize(totalBytesOf(files))} in all. Each repository keeps at most ${limit}.`);
}

import { addHubOptions, defineCommand, type HubOptions } from '../command-module.ts';
import { asTyped } from '../command-name.ts';
import { formatMoment } from '../terminal/duration.ts';
import type { Io } from '../terminal/io.ts';
import { printFields } from '../terminal/table.ts';
import { cleanText, oneLine } from '../terminal/text.ts';
import { colorStatus, shortId, statusText } from '../words/job-text.ts';
import { colorVerdict, printProof, readEvidence, verdictTexts } from '../words/landing-text.ts';
import { stateText } from '../words/work-text.ts';
import { countChanges, type FileChange, findBase } from '../work/branches.ts';
import { runGit } from '../work/clone-git.ts';
import { addWorkArgument, openWork } from '../work/work-command.ts';
import { type Work, workJson } from '../work/work-view.ts';

const FILES_SHOWN = 30;

/**
 * `signalbox work show JOB`: shows the job of a branch with its checks and changed files. With
 * `--json`: `{ok, work, baseSha, commits, files}`.
 */
export const command = defineCommand<HubOptions>({
  describe: addWorkArgument,
  chooseHub: addHubOptions,
  examples: [['signalbox work show 8f3a1c2d', 'its checks and changed files']],

  async run({ io, args, options }) {
    const { clone, work } = await openWork(io, args[0], options);
    const { branch, job } = work;
    const evidence = readEvidence(job?.evidence ?? null);
    const baseSha = await findBase(clone, branch, evidence.baseSha);
    const range = `${baseSha}..${branch.commitSha}`;
    const commits = Number(await runGit(clone, ['rev-list', '--count', range]));
    const files = await countChanges(clone, baseSha, branch.commitSha);
    if (io.json) return io.printJson({ ok: true, work: workJson(work), baseSha, commits, files });
    printWork(io, work, commits);
    const isJudged = job?.evidence?.commitSha === branch.commitSha;
    if (isJudged) printProof(io, evidence);
    else if (job !== null) {
      io.print();
      io.print('  The branch has moved since the job ended.');
    }
    printFiles(io, files);
    const id = shortId(branch.jobId);
    io.print();
    const next = `Next: signalbox job diff ${id}, signalbox work checkout ${id}, signalbox work merge ${id}`;
    io.print(io.styles.dim(asTyped(next)));
  },
});

function printWork(io: Io, { branch, job, verdict, state }: Work, commits: number): void {
  const { styles } = io;
  if (job !== null) {
    const status = colorStatus(styles, job.status, statusText(job.status));
    io.print(`${status}  ${styles.bold(oneLine(job.title))}`);
    io.print();
  }
  const { pullRequestUrl } = readEvidence(job?.evidence ?? null);
  printFields(io, [
    ['Job', `${branch.jobId}, attempt ${branch.attempt}`],
    ['Verdict', verdict === null ? null : colorVerdict(styles, verdict, verdictTexts[verdict])],
    ['Work', state === null ? null : stateText(state)],
    ['Branch', branch.name],
    ['Commit', `${branch.commitSha.slice(0, 12)}, ${formatMoment(branch.committedAt)}`],
    ['Commits', String(commits)],
    ['Merged', branch.isMerged ? 'yes' : 'no'],
    ['Review', pullRequestUrl === null ? null : oneLine(pullRequestUrl)],
  ]);
}

function printFiles({ print, styles }: Io, files: readonly FileChange[]): void {
  print();
  for (const { path, added, deleted } of files.slice(0, FILES_SHOWN)) {
    const counts =
      added === null || deleted === null
        ? styles.dim('binary')
        : `${styles.green(`+${added}`)} ${styles.red(`-${deleted}`)}`;
    print(`  ${counts}  ${oneLine(cleanText(path))}`);
  }
  const more = files.length - FILES_SHOWN;
  if (more > 0) print(styles.dim(`  … ${more} more file${more === 1 ? '' : 's'}`));
}

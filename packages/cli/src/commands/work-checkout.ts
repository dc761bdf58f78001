import { addHubOptions, defineCommand, type HubOptions } from '../command-module.ts';
import { shortId } from '../words/job-text.ts';
import { askGit, runGit } from '../work/clone-git.ts';
import { addWorkArgument, openWork, requireCleanTree } from '../work/work-command.ts';

/**
 * `signalbox work checkout JOB`: switches the clone to the branch of a job. With `--json`: `{ok,
 * branch, commitSha, from}`; `from` is the branch before, or null.
 */
export const command = defineCommand<HubOptions>({
  describe: addWorkArgument,
  chooseHub: addHubOptions,
  examples: [
    ['signalbox work checkout 8f3a1c2d', 'try its work here'],
    ['git switch -', 'go back'],
  ],

  async run({ io, args, options }) {
    const { clone, work } = await openWork(io, args[0], options);
    const { name: branch, commitSha, jobId } = work.branch;
    await requireCleanTree(clone);
    const from = await askGit(clone, ['symbolic-ref', '--quiet', '--short', 'HEAD']);
    await runGit(clone, ['switch', '--quiet', branch]);
    if (io.json) return io.printJson({ ok: true, branch, commitSha, from });
    io.print(`${io.styles.green('✔')} ${io.styles.bold(shortId(jobId))}  on ${branch}`);
    if (from !== branch) io.note('  Go back with: git switch -');
  },
});

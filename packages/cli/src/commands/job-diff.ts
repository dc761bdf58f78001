import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { addExamples, defineCommand, type HubOptions } from '../command-module.ts';
import { exitCodes } from '../exit-codes.ts';
import { readEvidence } from '../landing-text.ts';
import { countChanges, findBase } from '../work/branches.ts';
import { addWorkOptions, openWork } from '../work/work-command.ts';

/**
 * `signalbox job diff JOB`: shows what a job has changed, by its branch in the clone of the current
 * directory: the hub has no code. With `--json`: `{ok, branch, baseSha, commitSha, files}`.
 */
export const command = defineCommand<HubOptions & { stat?: true }>({
  describe(program) {
    program.option('--stat', 'only the names of files, with the numbers of changed lines');
    addWorkOptions(program);
    addExamples(program, [
      ['signalbox job diff 8f3a1c2d', 'as git shows it, with your pager'],
      ['signalbox job diff 8f3a1c2d --stat', 'the changed files'],
    ]);
  },

  async run({ io, args, options }) {
    const { clone, work } = await openWork(io, args[0], options);
    const { name: branch, commitSha } = work.branch;
    const { baseSha: knownBase } = readEvidence(work.job?.evidence ?? null);
    const baseSha = await findBase(clone, work.branch, knownBase);
    if (io.json) {
      const files = await countChanges(clone, baseSha, commitSha);
      return io.printJson({ ok: true, branch, baseSha, commitSha, files });
    }
    const stat = options.stat ? ['--stat'] : [];
    // Git itself prints, so that the person's colours, pager and diff tool apply.
    const git = spawn('git', ['diff', ...stat, baseSha, commitSha], {
      ...{ cwd: clone.path, env: io.env, stdio: 'inherit' },
    });
    const [exitCode] = (await once(git, 'close')) as [number | null];
    return exitCode === 0 ? undefined : exitCodes.failed;
  },
});

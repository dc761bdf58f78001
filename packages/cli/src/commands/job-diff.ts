import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { CliError } from '../cli-error.ts';
import { addHubOptions, defineCommand, type HubOptions } from '../command-module.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Io } from '../terminal/io.ts';
import { readEvidence } from '../words/landing-text.ts';
import { countChanges, findBase } from '../work/branches.ts';
import type { Clone } from '../work/clone-git.ts';
import {
  colorPatch,
  readSharedPatch,
  requestSharedPatch,
  type SharedPatch,
} from '../work/shared-patch.ts';
import { addWorkArgument, openWork } from '../work/work-command.ts';
import type { Work } from '../work/work-view.ts';

interface DiffOptions {
  stat?: true;
  sinceRound?: true;
  request?: true;
}

/**
 * `signalbox job diff JOB`: shows what a job has changed, by its branch in the clone of the current
 * directory. Without the branch, shows the patch that its agent shares, if it does. With `--json`:
 * `{ok, branch, baseSha, commitSha, files}`, or `{ok, branch: null, …, patch, filesOmitted}`; with
 * `--request`: `{ok, jobId, place}`.
 */
export const command = defineCommand<HubOptions & DiffOptions>({
  describe(program) {
    program.option('--stat', 'only the names of files, with the numbers of changed lines');
    program.option('--since-round', 'only what the latest round has changed');
    program.option(
      '--request',
      'ask the agent of the job for the changes, if it shares on request',
    );
    addWorkArgument(program);
  },

  chooseHub: addHubOptions,
  examples: [
    ['signalbox job diff 8f3a1c2d', 'as git shows it, with your pager'],
    ['signalbox job diff 8f3a1c2d --stat', 'the changed files'],
    ['signalbox job diff 8f3a1c2d --request', 'when they are on another machine'],
  ],

  async run({ io, args, options }) {
    const reference = args[0] ?? '';
    if (options.request) return await requestSharedPatch(io, options, reference);
    const opened = await openWork(io, reference, options).catch((error: unknown) => {
      const isElsewhere = error instanceof CliError && elsewhere.includes(error.code);
      if (!isElsewhere) throw error;
      return null;
    });
    if (opened !== null) return await showBranch(io, opened, options);
    return await showPatch(
      io,
      await readSharedPatch(io, options, reference, sinceOf(options)),
      options,
    );
  },
});

function sinceOf({ sinceRound }: DiffOptions): 'work' | 'round' {
  return sinceRound ? 'round' : 'work';
}

/** The branch may be on another machine. */
const elsewhere = ['NOT_A_CLONE', 'WORK_NOT_FOUND'];

async function showBranch(
  io: Io,
  { clone, work }: { clone: Clone; work: Work },
  options: DiffOptions,
): Promise<ExitCode | undefined> {
  const { name: branch, commitSha } = work.branch;
  const { baseSha: knownBase, roundBaseSha } = readEvidence(work.job?.evidence ?? null);
  const isOfRound = options.sinceRound && roundBaseSha !== null;
  const baseSha = isOfRound ? roundBaseSha : await findBase(clone, work.branch, knownBase);
  if (io.json) {
    const files = await countChanges(clone, baseSha, commitSha);
    io.printJson({ ok: true, branch, baseSha, commitSha, files });
    return undefined;
  }
  const stat = options.stat ? ['--stat'] : [];
  // Git itself prints, so that the person's colours, pager and diff tool apply.
  const args = ['diff', ...stat, baseSha, commitSha];
  return await exitOf(spawn('git', args, { cwd: clone.path, env: io.env, stdio: 'inherit' }));
}

async function showPatch(
  io: Io,
  { jobId, patch, ...facts }: SharedPatch,
  options: DiffOptions,
): Promise<ExitCode | undefined> {
  const { filesOmitted } = facts;
  if (io.json) return io.printJson({ ok: true, jobId, branch: null, ...facts, patch });
  io.note('The branch of this job is not here. This is the patch that its agent shares.');
  if (filesOmitted > 0) io.note(`Of its changed files, ${filesOmitted} are not in the patch.`);
  if (options.stat) {
    const stdio = ['pipe', 'inherit', 'inherit'] as const;
    const git = spawn('git', ['apply', '--stat'], { env: io.env, stdio: [...stdio] });
    git.stdin.end(patch);
    return await exitOf(git);
  }
  // A pipe gets the patch as it is, for other programs.
  const text = io.stdout.isTTY || io.isColored ? colorPatch(io.styles, patch) : patch;
  io.printText(text.replace(/\n$/, ''));
  return undefined;
}

async function exitOf(git: NodeJS.EventEmitter): Promise<ExitCode | undefined> {
  const [exitCode] = (await once(git, 'close')) as [number | null];
  return exitCode === 0 ? undefined : exitCodes.failed;
}

import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export interface DemoOptions {
  help: boolean;
  /** The repository that is cloned for the job. */
  repo: string;
  /** Arguments of `signalbox agent start` that choose the coding tool. */
  toolArgs: readonly string[];
  /** For the person who watches. */
  toolName: string;
  prompt: string;
  /** Leave the temporary directory behind. */
  keep: boolean;
  /** Seed the workspace, and leave the hub running until Ctrl-C. */
  keepOpen: boolean;
}

export const demoUsage = `Usage: npm run demo -- [options]

  --repo PATH        work on a clone of this git repository (default: this project)
  --executor NAME    a real coding tool on the PATH: claude or codex
  --command "…"      any command that reads a prompt and changes the worktree it is in
  --prompt "…"       what the job asks for
  --keep             leave the temporary directory behind
  --keep-open        fill the workspace with the jobs of a team and leave the hub running, to look
                     at its console; Ctrl-C ends it

Without --executor and --command the coding tool is a scripted stand-in, not a model.`;

const promptDefault =
  'Add a page docs/folders.md that names every top-level folder of this repository with the ' +
  'number of files in it, check that none is missing, and commit it.';

/** Reads the command line; a string says what is wrong with it. */
export function readDemoOptions(argv: readonly string[], root: string): DemoOptions | string {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        repo: { type: 'string' },
        executor: { type: 'string' },
        command: { type: 'string' },
        prompt: { type: 'string' },
        keep: { type: 'boolean' },
        'keep-open': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    const { executor, command, prompt = promptDefault, keep = false, help = false } = values;
    const keepOpen = values['keep-open'] ?? false;
    if (executor !== undefined && !['claude', 'codex', 'command'].includes(executor)) {
      return `--executor is "${executor}"; it takes claude, codex or command.`;
    }
    if (executor === 'command' && command === undefined)
      return '--executor command needs --command.';
    if (executor !== undefined && executor !== 'command' && command !== undefined) {
      return '--executor and --command exclude each other.';
    }
    const repo = findRepository(resolve(values.repo ?? root));
    if (repo === null) {
      return `${values.repo ?? root} is no git repository with a commit; name one: --repo PATH.`;
    }
    return { help, repo, prompt, keep, keepOpen, ...chooseTool(executor, command) };
  } catch (error) {
    return (error as Error).message;
  }
}

function chooseTool(executor: string | undefined, command: string | undefined) {
  if (command !== undefined) return { toolArgs: ['--command', command], toolName: command };
  if (executor !== undefined) return { toolArgs: ['--executor', executor], toolName: executor };
  const standIn = join(import.meta.dirname, 'stand-in.ts');
  const line = [process.execPath, standIn].map(quoteForShell).join(' ');
  return { toolArgs: ['--command', line], toolName: 'a scripted stand-in (not a model)' };
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The root of the repository that contains a path; null without a repository or a commit. */
function findRepository(path: string): string | null {
  try {
    const ask = (...args: string[]) =>
      execFileSync('git', ['-C', path, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();
    ask('rev-parse', '--verify', 'HEAD^{commit}');
    return ask('rev-parse', '--is-bare-repository') === 'true'
      ? ask('rev-parse', '--absolute-git-dir')
      : ask('rev-parse', '--show-toplevel');
  } catch {
    return null;
  }
}

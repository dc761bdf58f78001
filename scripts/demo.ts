// `npm run demo`: the main job on real input, unattended. A hub, its first owner, a machine that
// logs in, a repository, a job, an agent that does it: each is real, in a process of its own. Only
// the person and, unless a real one is named, the coding tool are simulated.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { git, playDemo } from './demo/play.ts';
import { createProcesses } from './demo/processes.ts';
import { createTerminal, secondsSince } from './demo/terminal.ts';

const usage = `Usage: npm run demo -- [options]

  --repo PATH        work on a clone of this git repository (default: this project)
  --tool TOOL        a real coding tool on the PATH, such as claude or codex, or any command in
                     quotes that reads a prompt and changes the worktree it is in
  --prompt "…"       the prompt of the job
  --questions        a question, the death of all processes, and an answer on a phone
  --keep             leave the temporary directory behind
  --keep-open        fill the workspace with the jobs of a team and leave the hub running, to look
                     at its console; Ctrl-C ends it

Without --tool the coding tool is a script that plays one, not a model.
`;
const root = join(import.meta.dirname, '..');
/** Exit codes of an interrupted demo. */
const signals = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;

const startMs = performance.now();
const terminal = createTerminal(process.stdout);
const { say } = terminal;
// A terminal that is closed, or a pager that has ended, takes no more output. The processes are
// ended and the directory is removed all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (typeof options === 'string') {
    process.stderr.write(`demo: ${options}\n\n${usage}`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(usage);
    return 0;
  }
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-demo-'));
  const interrupted = new AbortController();
  let exitCode = 1;
  for (const [name, code] of signals) {
    process.on(name, () => {
      exitCode = code;
      interrupted.abort(new Error(`ended by ${name}`));
    });
  }
  const { signal } = interrupted;
  const processes = createProcesses(root, directory, signal);
  try {
    await playDemo({ options, terminal, processes, signal, directory });
    return 0;
  } catch (error) {
    const reason = signal.aborted ? signal.reason : error;
    const text = reason instanceof Error ? reason.message : String(reason);
    say(`\n${styleText('red', '✖')} The demo ended after ${secondsSince(startMs)}: ${text}`);
    return exitCode;
  } finally {
    await processes.endAll();
    if (options.keep) say(`Kept in ${directory}`);
    else rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    if (options.keepOpen && !options.keep) say('Everything is deleted.');
  }
}

/** Reads the command line; a string says what is wrong with it. */
function readOptions(argv: string[]) {
  try {
    const { values } = parseArgs({
      args: argv,
      options: {
        repo: { type: 'string', default: root },
        tool: { type: 'string' },
        prompt: { type: 'string' },
        questions: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
        'keep-open': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    const { 'keep-open': keepOpen, ...options } = values;
    if (keepOpen && options.questions) return 'Name --questions or --keep-open.';
    const repo = findRepository(resolve(values.repo));
    if (repo === null) {
      return `${values.repo} is no git repository with a commit; name one: --repo PATH.`;
    }
    return { ...options, repo, keepOpen };
  } catch (error) {
    return (error as Error).message;
  }
}

/** The root of the repository that contains a path; null without a repository or a commit. */
function findRepository(path: string): string | null {
  try {
    git(path, 'rev-parse', '--verify', 'HEAD^{commit}');
    const isBare = git(path, 'rev-parse', '--is-bare-repository') === 'true';
    return git(path, 'rev-parse', isBare ? '--absolute-git-dir' : '--show-toplevel');
  } catch {
    return null;
  }
}

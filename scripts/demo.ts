// `npm run demo`: the main job on real input, unattended. A hub, its first owner, a machine that
// logs in, a repository, a job, an agent that does it: each is real, in a process of its own. Only
// the person and, unless a real one is named, the coding tool are simulated.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { type Job, jobStatuses } from '@signalbox/contract';
import { buildConsole } from './build/console-build.ts';
import { approveDevice, makeOwner, type Owner } from './demo/owner.ts';
import { createProcesses, dataDirOf, type Processes, type RunningHub } from './demo/processes.ts';
import { enterTeam, makeSignInUrl, makeTeam, playTeam, type Team } from './demo/team.ts';

const usage = `Usage: npm run demo -- [options]

  --repo PATH        work on a clone of this git repository (default: this project)
  --tool TOOL        a real coding tool on the PATH, such as claude or codex, or any command in
                     quotes that reads a prompt and changes the worktree it is in
  --prompt "…"       the prompt of the job
  --keep             leave the temporary directory behind
  --keep-open        fill the workspace with the jobs of a team and leave the hub running, to look
                     at its console; Ctrl-C ends it

Without --tool the coding tool is a script that plays one, not a model.
`;
const promptDefault =
  'Add a page docs/folders.md that names every top-level folder of this repository with the ' +
  'number of files in it, check that none is missing, and commit it.';

const root = join(import.meta.dirname, '..');
const workspaceSlug = 'demo';
/** Exit codes of an interrupted demo. */
const signals = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;

const startMs = performance.now();
// A terminal that is closed, or a pager that has ended, takes no more output. The processes are
// ended and the directory is removed all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
process.exitCode = await main();

type Options = Exclude<ReturnType<typeof readOptions>, string>;

/** The state that the steps share. */
interface Demo {
  options: Options;
  processes: Processes;
  signal: AbortSignal;
  clone: string;
  dataDir: string;
}

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
    await playDemo({
      options,
      processes,
      signal,
      clone: join(directory, 'clone'),
      dataDir: dataDirOf(directory),
    });
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
        prompt: { type: 'string', default: promptDefault },
        keep: { type: 'boolean', default: false },
        'keep-open': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    const { tool, prompt, keep, help, 'keep-open': keepOpen } = values;
    const repo = findRepository(resolve(values.repo));
    if (repo === null) {
      return `${values.repo} is no git repository with a commit; name one: --repo PATH.`;
    }
    const script = [process.execPath, join(import.meta.dirname, 'demo/stand-in.ts')];
    const scriptLine = script.map((part) => `'${part.replaceAll("'", "'\\''")}'`).join(' ');
    const toolArgs = ['--tool', tool ?? scriptLine];
    const toolName = tool ?? 'a script (not a model)';
    return { help, repo, prompt, keep, keepOpen, toolArgs, toolName };
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

async function playDemo(demo: Demo): Promise<void> {
  const { options, processes, clone, dataDir } = demo;
  const { repo, prompt, toolArgs, toolName } = options;
  say(`${styleText('bold', 'Signalbox: one job, from the queue to a commit')}\n`);
  // The hub serves the console only when it is built before the hub starts.
  if (options.keepOpen) {
    await step('The console is built', async () => void (await buildConsole(root, () => {})));
  }
  const team = options.keepOpen
    ? await step('An invented team works for two weeks', () => makeTeam(dataDir, workspaceSlug))
    : null;
  const hub = await step('A hub starts on a temporary directory', () => processes.startHub());
  const owner =
    team === null
      ? await step('The first owner opens the one-time link', async () => {
          const firstOwnerUrl = await hub.waitForFirstOwnerUrl();
          return await makeOwner({ url: hub.url, firstOwnerUrl }, workspaceSlug);
        })
      : await enterTeam(team, hub.url);
  await step('A machine logs in: signalbox login', () => logIn(processes, hub.url, owner));
  await step('A repository is linked: signalbox repo link', async () => {
    // A clone of the clone, so that the demo cannot change the person's repository.
    execFileSync('git', ['clone', '--quiet', repo, clone], { stdio: 'pipe' });
    await processes.run(['repo', 'link', clone, '--label', basename(repo)]);
  });
  const jobId = await step('A job is enqueued: signalbox enqueue', async () => {
    const args = ['enqueue', '-', '--repo', clone, '--json'];
    const output = await processes.run(args, { input: prompt });
    return (JSON.parse(output) as { jobId: string }).jobId;
  });
  sayOutput(`${jobId}: “${prompt}”`);
  await step(`An agent does it with ${toolName}`, async () => {
    const args = ['agent', 'start', '--once', '--name', 'demo agent', ...toolArgs];
    await processes.run(args, { onLine: sayOutput });
  });
  const commit = await step('The evidence is held against git', () => checkEvidence(demo, jobId));
  say(`\n${styleText('bold', 'The timeline: signalbox job')}`);
  await processes.run(['job', jobId], { onLine: sayOutput });
  say(`\n${styleText('bold', 'The commit: git show --stat')}`);
  git(clone, '--no-pager', 'show', '--stat', commit).split('\n').forEach(sayOutput);
  say(`\n${styleText('green', '✔')} All done in ${secondsSince(startMs)}.`);
  if (team !== null) await keepOpen(demo, team, { hub, owner });
}

/** The person: reads the code in the terminal, and types it on the approval page. */
async function logIn(processes: Processes, url: string, owner: Owner): Promise<void> {
  const args = ['login', '--no-browser', '--workspace', workspaceSlug, '--url', url];
  const login = processes.start(args);
  const [userCode] = await login.waitFor(/\b[B-Z]{4}-[B-Z]{4}\b/);
  const [deviceId] = await login.waitFor(/dev_[0-9a-z]+/);
  await approveDevice(owner, { deviceId, userCode });
  const { exitCode, errorOutput } = await login.ended;
  if (exitCode !== 0) throw new Error(`signalbox login failed.\n${errorOutput.trim()}`);
}

/** Compares the job in the hub with the clone. Returns the commit. */
async function checkEvidence({ processes, clone }: Demo, jobId: string): Promise<string> {
  const { job } = JSON.parse(await processes.run(['job', jobId, '--json'])) as { job: Job };
  const { commitSha, changedFiles = [] } = job.evidence ?? {};
  if (job.status !== 'done') throw new Error(`The job is ${job.status}: ${job.message ?? ''}`);
  if (commitSha === undefined) throw new Error('Nothing was committed: the tool changed nothing.');
  const inGit = git(clone, 'diff', '--name-only', 'HEAD', commitSha).split('\n').toSorted();
  if (inGit.join() !== changedFiles.toSorted().join()) {
    throw new Error(`The evidence names ${changedFiles.join()}; git names ${inGit.join()}.`);
  }
  return commitSha;
}

/** Lets the team work, says how to sign in, and returns when a person ends the demo. */
async function keepOpen(
  { options, signal, dataDir }: Demo,
  team: Team,
  { hub, owner }: { hub: RunningHub; owner: Owner },
): Promise<void> {
  const failure = Promise.withResolvers<never>();
  // The failure may come before the race below awaits it.
  failure.promise.catch(() => {});
  const baseUrl = hub.url;
  await playTeam(team, { owner, baseUrl, signal, onError: failure.reject });
  const signInUrl = await makeSignInUrl(team, { dataDir, baseUrl });
  const { jobs } = await owner.console.jobs.list({ workspaceId: owner.workspaceId, limit: 200 });
  const counts = jobStatuses.map(
    (name) => `${jobs.filter(({ status }) => status === name).length} ${name}`,
  );
  say(`  ${jobs.length} jobs: ${counts.join(', ')}`);
  say('  Scripts play its agents: there is no model, and their commits exist nowhere.');
  say(`\n  Console   ${signInUrl}`);
  say('            signs you in, once; later or elsewhere:');
  say(`  Address   ${baseUrl}\n  E-mail    ${owner.email}\n  Password  ${owner.password}\n`);
  say(options.keep ? 'Ctrl-C ends the hub.' : 'Ctrl-C ends the hub and deletes everything.');
  try {
    await Promise.race([hub.ended, failure.promise]);
  } catch (error) {
    if (!signal.aborted) throw error;
    say('\nEnding the hub …');
    return;
  }
  throw new Error('The hub ended although no signal was sent.');
}

/** Prints the title of a step, then how long it took. */
async function step<T>(title: string, act: () => Promise<T>): Promise<T> {
  const beganMs = performance.now();
  say(`${styleText('cyan', '▸')} ${title} …`);
  const result = await act();
  say(`${styleText('green', '✔')} ${title} ${styleText('dim', secondsSince(beganMs))}`);
  return result;
}

function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Prints a line of a command, which wrote it to a pipe, at words within the width of the terminal.
 */
function sayOutput(line: string): void {
  const width = (process.stdout.columns ?? Number.POSITIVE_INFINITY) - 2;
  let rest = line;
  while (rest.length > width) {
    const space = rest.lastIndexOf(' ', width);
    // A word as long as the line, such as a path, stays whole.
    if (rest.slice(0, space).trim() === '') break;
    say(`  ${rest.slice(0, space)}`);
    rest = `    ${rest.slice(space + 1)}`;
  }
  say(rest === '' ? '' : `  ${rest}`);
}

function secondsSince(beganMs: number): string {
  return `${((performance.now() - beganMs) / 1_000).toFixed(1)} s`;
}

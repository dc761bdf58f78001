// `npm run demo`: the main job on real input, unattended. A hub, its first owner, a machine that
// logs in, a repository, a job, an agent that does it: each is real, in a process of its own. Only
// the person and, unless a real one is named, the coding tool are simulated.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { styleText } from 'node:util';
import { type DemoOptions, demoUsage, readDemoOptions } from './demo/demo-options.ts';
import { keepOpen, prepareConsole } from './demo/keep-open.ts';
import { approveDevice, makeOwner, type Owner } from './demo/owner.ts';
import { type CommandRun, createProcesses, type Processes } from './demo/processes.ts';
import { checkEvidence, type Result } from './demo/result.ts';
import { say, sayHeading, sayOutput, seconds, step } from './demo/screen.ts';

const root = join(import.meta.dirname, '..');
const workspaceSlug = 'demo';
/** Exit codes of an interrupted demo. */
const signals = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;

/** The state that the steps share. */
interface Demo {
  options: DemoOptions;
  processes: Processes;
  signal: AbortSignal;
  clone: string;
}

const startMs = performance.now();
// A terminal that is closed, or a pager that has ended, takes no more output. The processes are
// ended and the directory is removed all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
process.exitCode = await main();

async function main(): Promise<number> {
  const options = readDemoOptions(process.argv.slice(2), root);
  if (typeof options === 'string') {
    process.stderr.write(`demo: ${options}\n\n${demoUsage}\n`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(`${demoUsage}\n`);
    return 0;
  }
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-demo-'));
  const interrupted = new AbortController();
  let exitCode = 1;
  for (const [signal, code] of signals) {
    process.on(signal, () => {
      exitCode = code;
      interrupted.abort(new Error(`ended by ${signal}`));
    });
  }
  const processes = createProcesses({ root, directory, signal: interrupted.signal });
  try {
    const { signal } = interrupted;
    await playDemo({ options, processes, signal, clone: join(directory, 'clone') });
    return 0;
  } catch (error) {
    const reason = interrupted.signal.aborted ? interrupted.signal.reason : error;
    const text = reason instanceof Error ? reason.message : String(reason);
    say(`\n${styleText('red', '✖')} The demo ended after ${seconds(startMs)}: ${text}`);
    return exitCode;
  } finally {
    await processes.endAll();
    if (options.keep) say(`Kept in ${directory}`);
    else rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    if (options.keepOpen && !options.keep) say('Everything is deleted.');
  }
}

async function playDemo(demo: Demo): Promise<void> {
  const { options, processes } = demo;
  say(styleText('bold', 'Signalbox: one job, from the queue to a commit'));
  say();
  if (options.keepOpen) await prepareConsole(root);
  const hub = await step('A hub starts on a temporary directory', () => processes.startHub());
  const owner = await step('The first owner opens the one-time link', async () => {
    const made = await makeOwner(hub, workspaceSlug);
    return { ...made, note: `owner of the workspace “${workspaceSlug}”` };
  });
  await step('A machine logs in: signalbox login', () => logIn(demo, hub.url, owner));
  await step('A repository is linked: signalbox repo link', () => linkClone(demo));
  const job = await step('A job is enqueued: signalbox enqueue', () => enqueueJob(demo));
  say(`  ${styleText('dim', '“')}${options.prompt}${styleText('dim', '”')}`);
  await step(`An agent does it with ${options.toolName}`, () => runAgent(demo), {
    isLong: true,
  });
  const result = await step('The evidence is held against git', () =>
    checkEvidence(processes, demo.clone, job.jobId),
  );
  await showResult(demo, job.jobId, result);
  say(`\n${styleText('green', '✔')} All done in ${seconds(startMs)}.`);
  if (options.keepOpen)
    await keepOpen({ hub, owner, workspaceSlug, isKept: options.keep, signal: demo.signal });
}

/** The person: reads the code in the terminal, and types it on the approval page. */
async function logIn({ processes }: Demo, url: string, owner: Owner) {
  const login = processes.startCommand([
    'login',
    '--no-browser',
    '-w',
    workspaceSlug,
    '--url',
    url,
  ]);
  const [code] = await login.waitFor(/\b[B-Z]{4}-[B-Z]{4}\b/);
  const [deviceId] = await login.waitFor(/dev_[0-9a-z]+/);
  await approveDevice(owner, { deviceId, userCode: code });
  await finish(login);
  return { note: `code ${code} compared and approved` };
}

async function linkClone({ options, processes, clone }: Demo) {
  // A clone of the clone, so that the demo cannot change the person's repository.
  execFileSync('git', ['clone', '--quiet', options.repo, clone], { stdio: 'pipe' });
  const label = basename(options.repo);
  await finish(processes.startCommand(['repo', 'link', clone, '--label', label]));
  return { note: `a clone of ${options.repo}` };
}

async function enqueueJob({ options, processes, clone }: Demo) {
  const run = processes.startCommand(['enqueue', '-', '--repo', clone, '--json'], {
    input: options.prompt,
  });
  const { jobId } = JSON.parse(await finish(run)) as { jobId: string };
  return { jobId, note: jobId };
}

async function runAgent({ options, processes }: Demo) {
  const args = ['agent', 'start', '--once', '--name', 'demo agent', ...options.toolArgs];
  await finish(processes.startCommand(args, { showsOutput: true }));
  return {};
}

async function showResult({ processes, clone }: Demo, jobId: string, result: Result) {
  sayHeading('The timeline: signalbox job');
  await finish(processes.startCommand(['job', jobId], { showsOutput: true }));
  sayHeading('The commit: git show --stat');
  const args = ['-C', clone, '--no-pager', 'show', '--stat', result.commitSha];
  for (const line of execFileSync('git', args, { encoding: 'utf8' }).trimEnd().split('\n')) {
    sayOutput(line);
  }
}

/** The output of a command that has ended well. */
async function finish(run: CommandRun): Promise<string> {
  const { exitCode, output, errorOutput } = await run.ended;
  if (exitCode === 0) return output;
  const said = errorOutput.trim() || (run.isShown ? '' : output.trim());
  throw new Error(`signalbox ${run.words} exited with code ${exitCode}.\n${said}`.trimEnd());
}

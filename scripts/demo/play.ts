// The steps of the demo. Each part is real, in a process of its own.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { styleText } from 'node:util';
import { type Job, jobStatuses } from '@signalbox/contract';
import { buildConsole } from '../build/console-build.ts';
import { approveDevice, makeOwner, type Owner } from './owner.ts';
import { dataDirOf, type Processes, type RunningHub } from './processes.ts';
import { type Asking, playQuestion } from './questions.ts';
import { enterTeam, makeSignInUrl, makeTeam, playTeam, type Team } from './team.ts';
import { secondsSince, type Terminal } from './terminal.ts';

/** The state that the steps share. */
export interface Demo {
  options: {
    /** The root of a git repository. */
    repo: string;
    /** A real coding tool; default: a script plays one. */
    tool?: string | undefined;
    prompt?: string | undefined;
    questions: boolean;
    keep: boolean;
    keepOpen: boolean;
  };
  terminal: Terminal;
  processes: Processes;
  signal: AbortSignal;
  /** For all files of the demo. */
  directory: string;
  onPhone?: Asking['onPhone'];
}

const plainPrompt =
  'Add a page docs/folders.md that names every top-level folder of this repository with the ' +
  'number of files in it, check that none is missing, and commit it.';
const askingPrompt =
  'Add a page that names every top-level folder with the number of files in it. Ask me where it ' +
  'belongs, and do not continue before I have answered.';

const root = join(import.meta.dirname, '../..');
const workspaceSlug = 'demo';

export async function playDemo(demo: Demo): Promise<void> {
  const startMs = performance.now();
  const { options, terminal, processes, directory } = demo;
  const { say, sayOutput, sayHeading, step } = terminal;
  const [clone, dataDir] = [join(directory, 'clone'), dataDirOf(directory)];
  const { repo, tool, prompt = options.questions ? askingPrompt : plainPrompt } = options;
  const toolName = tool ?? 'a script (not a model)';
  const title = options.questions
    ? 'a question outlives the process that asked it'
    : 'one job, from the queue to a commit';
  say(`${styleText('bold', `Signalbox: ${title}`)}\n`);
  // The hub serves the console only when it is built before the hub starts.
  if (options.keepOpen || options.questions) {
    await step('The console is built', async () => void (await buildConsole(root, () => {})));
  }
  const team = options.keepOpen
    ? await step('An invented team works for two weeks', () => makeTeam(dataDir, workspaceSlug))
    : null;
  const hub = await step('A hub starts on a temporary directory', () => processes.startHub());
  const owner =
    team === null
      ? await step('The first owner opens the one-time link', async () => {
          const [, firstOwnerUrl = ''] = await hub.process.waitFor(/(http:\S+#token=\S+)\s/);
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
  const agentArgs = ['agent', 'start', '--once', '--config', writeConfig(demo)];
  let proved: string[] = [];
  if (options.questions) {
    const makeLink = () => makeSignInUrl(owner, { dataDir, baseUrl: hub.url });
    const asking = { ...demo, hub, owner, jobId, agentArgs, toolName };
    proved = await playQuestion({ ...asking, makeSignInUrl: makeLink });
  } else {
    await step(`An agent does it with ${toolName}`, async () => {
      await processes.run(agentArgs, { onLine: sayOutput });
    });
  }
  const evidence = () => checkEvidence(processes, clone, jobId);
  const commit = await step('The evidence is held against git', evidence);
  if (options.questions) {
    sayHeading('What was proved');
    proved.forEach(sayOutput);
  } else {
    sayHeading('The timeline: signalbox job');
    await processes.run(['job', jobId], { onLine: sayOutput });
    sayHeading('The commit: git show --stat');
    git(clone, '--no-pager', 'show', '--stat', commit).split('\n').forEach(sayOutput);
  }
  say(`\n${styleText('green', '✔')} All done in ${secondsSince(startMs)}.`);
  if (team !== null) await keepOpen(demo, { hub, owner, team });
}

/** The agent's configuration: without a tool, a script plays one. */
function writeConfig({ options, directory }: Demo): string {
  const { tool, questions } = options;
  const script = [process.execPath, join(import.meta.dirname, 'stand-in.ts')];
  if (questions) script.push(mkdtempSync(join(directory, 'sessions-')));
  const command = script.map((part) => `'${part.replaceAll("'", "'\\''")}'`).join(' ');
  const sessions = { resume: `${command} {session}`, session: '^Session (\\w+)' };
  const played = { name: 'script', command, ...(questions && sessions) };
  const path = join(directory, 'agent.yaml');
  // A person may take their time. YAML is a superset of JSON.
  const config = { name: 'demo agent', hold: '1h', tool: tool ? { name: tool } : played };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** The person: reads the code in the terminal, and types it on the approval page. */
async function logIn(processes: Processes, url: string, owner: Owner): Promise<void> {
  const args = ['login', '--no-browser', '--workspace', workspaceSlug, '--url', url];
  const login = processes.start(args);
  const [, userCode = ''] = await login.waitFor(/\b([B-Z]{4}-[B-Z]{4})\s/);
  const [, deviceId = ''] = await login.waitFor(/(dev_[0-9a-z]+)\s/);
  await approveDevice(owner, { deviceId, userCode });
  const { code } = await login.ended;
  if (code !== 0) throw new Error(`signalbox login failed.\n${login.stderr.trim()}`);
}

/** Compares the job in the hub with the clone. Returns the commit. */
async function checkEvidence(processes: Processes, clone: string, jobId: string) {
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
  { options, terminal, signal, directory }: Demo,
  { team, hub, owner }: { team: Team; hub: RunningHub; owner: Owner },
): Promise<void> {
  const { say } = terminal;
  const failure = Promise.withResolvers<never>();
  // The failure may come before the race below awaits it.
  failure.promise.catch(() => {});
  const baseUrl = hub.url;
  await playTeam(team, { owner, baseUrl, signal, onError: failure.reject });
  const signInUrl = await makeSignInUrl(owner, { dataDir: dataDirOf(directory), baseUrl });
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
  signal.addEventListener('abort', () => say('\nEnding the hub …'));
  await Promise.race([hub.process.ended, failure.promise]).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (!signal.aborted) throw new Error('The hub ended although no signal was sent.');
}

export function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();
}

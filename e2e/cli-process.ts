import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessEnd, StartedProcess } from '../scripts/process/start-process.ts';
import { projectRoot, runNode, startNode } from './node-process.ts';
import { callConsole, type SignedIn } from './person.ts';

const cliScript = join(projectRoot, 'packages/cli/src/main.ts');

/** A person's machine: where the command line keeps its logins, links and agents. */
export interface Machine {
  start(args: readonly string[], cwd?: string): StartedProcess;
  /** Runs a command until it ends, with or without success. */
  run(args: readonly string[], cwd?: string): Promise<CliEnd>;
}

export interface CliEnd extends ProcessEnd {
  readonly stdout: string;
  readonly stderr: string;
}

/** The script of the command, and the Node that runs it. */
export interface CommandScript {
  readonly script: string;
  readonly node: string;
}

/** A machine of its own below a folder; nothing of the person who runs the scenario is touched. */
export function createMachine(
  folder: string,
  env: NodeJS.ProcessEnv = {},
  { script, node }: CommandScript = { script: cliScript, node: process.execPath },
): Machine {
  const own = {
    SIGNALBOX_CONFIG_DIR: join(folder, 'config'),
    SIGNALBOX_STATE_DIR: join(folder, 'state'),
    XDG_DATA_HOME: join(folder, 'share'),
    ...env,
  };
  const optionsFor = (cwd: string | undefined) => ({
    node,
    env: own,
    ...(cwd === undefined ? {} : { cwd }),
  });
  return {
    start: (args, cwd) => startNode([script, ...args], optionsFor(cwd)),
    run: (args, cwd) => runNode([script, ...args], optionsFor(cwd)),
  };
}

/** The flag of `agent start` for settings that have no flag of their own. */
export function configFlag(folder: string, settings: object): string[] {
  // YAML is a superset of JSON.
  const text = JSON.stringify(settings);
  const file = join(folder, `agent-${hash('sha256', text).slice(0, 12)}.yaml`);
  writeFileSync(file, text);
  return ['--config', file];
}

/** Runs a command with `--json` and answers with its document. @throws unless it exits with 0. */
export async function runJson<Answer>(
  machine: Machine,
  args: readonly string[],
  cwd?: string,
): Promise<Answer> {
  const end = await machine.run([...args, '--json'], cwd);
  if (end.code !== 0) throw new Error(`${args.join(' ')} exited with ${end.code}: ${end.stderr}`);
  return JSON.parse(end.stdout) as Answer;
}

/** The page and the code that `signalbox login` prints. */
export interface ShownLogin {
  readonly login: StartedProcess;
  readonly userCode: string;
  readonly approvalUrl: string;
}

/** Starts a login as a person without a browser would, and reads the code off the terminal. */
export async function startLogin(
  machine: Machine,
  baseUrl: string,
  workspaceSlug: string,
  machineName: string,
): Promise<ShownLogin> {
  const place = ['--url', baseUrl, '--workspace', workspaceSlug];
  const login = machine.start(['login', '--no-browser', '--name', machineName, ...place]);
  const [, userCode = ''] = await login.waitFor(/^\s*Your code\s+(\S+)$/m);
  const [approvalUrl = ''] = await login.waitFor(/http\S+\/device\?id=\S+/);
  return { login, userCode, approvalUrl };
}

/** Logs a machine in, approved by a person through the console's endpoints. */
export async function logIn(
  machine: Machine,
  person: SignedIn,
  workspaceSlug: string,
): Promise<void> {
  const { baseUrl, cookie } = person;
  const shown = await startLogin(machine, baseUrl, workspaceSlug, 'workshop');
  const { login, userCode } = shown;
  const deviceId = new URL(shown.approvalUrl).searchParams.get('id');
  await callConsole(baseUrl, 'device-approvals/open', { deviceId }, cookie);
  const answer = { deviceId, decision: 'approve', userCode };
  await callConsole(baseUrl, 'device-approvals/answer', answer, cookie);
  const { code } = await login.ended;
  if (code !== 0) throw new Error(`login exited with ${code}: ${login.stderr}`);
}

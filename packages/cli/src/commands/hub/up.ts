import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { hostname, userInfo } from 'node:os';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import {
  type Config,
  findBuiltConsole,
  findRunningHub,
  type LocalAccess,
  type LocalAccessDraft,
  openLocalAccess,
  settings,
  startHub,
} from '@signalbox/hub';
import { ApiError } from '@signalbox/sdk';
import { CliError } from '../../cli-error.ts';
import { defineCommand } from '../../command-module.ts';
import { asTyped } from '../../command-name.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { type Login, readLogins, saveLogin } from '../../hub/credentials.ts';
import { createHubClient } from '../../hub/hub-session.ts';
import { linkRepository } from '../../hub/link-repository.ts';
import { openBrowser } from '../../terminal/browser.ts';
import type { Io } from '../../terminal/io.ts';
import { printFields } from '../../terminal/table.ts';
import { oneLine } from '../../terminal/text.ts';
import { readClone } from '../agent/read-clone.ts';
import { startForClone } from '../agent/start-for-clone.ts';
import { addSettings, explainHubError, readHubConfig } from './admin-settings.ts';

interface Options extends Record<string, unknown> {
  browser: boolean;
}

type Clone = Awaited<ReturnType<typeof readClone>>;
type Hub = Awaited<ReturnType<typeof startHub>>['hub'];

/** Signals within this time count as one: under npm, one Ctrl-C arrives twice. */
const SAME_SIGNAL_MS = 1_000;

/**
 * `signalbox up [PATH]`: on one machine, everything from a clone to the first job: starts a hub or
 * finds the running one, creates its first owner, logs this machine in, links the clone, opens the
 * console, and runs an agent for the clone until Ctrl-C. With `--json`: a line `{event: "up", url,
 * dataDir, workspaceSlug, signInUrl, clone}`, then a line for each event of the agent.
 */
export const command = defineCommand<Options>({
  describe(program) {
    program
      .argument('[path]', 'a path in the clone (default: the current folder)')
      .option('--no-browser', 'print the link without opening a browser');
  },

  json: 'print JSON lines: the hub with the link, then each event of the agent',
  chooseHub: (program) =>
    addSettings(program.optionsGroup('Which hub:'), [settings.dataDir, settings.port]),
  examples: [
    ['signalbox up', 'in a clone: hub, console, and an agent for the clone'],
    ['signalbox up ~/src/api', 'the same for another clone'],
  ],

  async run({ io, args, options }) {
    const config = readHubConfig(io.env, options);
    const clone = args[0] === undefined ? await findClone(io) : await readClonePath(io, args[0]);
    return bringUp(io, { config, clone, opensBrowser: options.browser });
  },
});

export interface UpChoice {
  config: Config;
  /** Null: no agent is started. */
  clone: Clone | null;
  opensBrowser: boolean;
  /** The built console; absent: that of the installed package. */
  consoleDir?: string | undefined;
}

/** The clone of the current folder; null if it is in none. */
async function findClone(io: Io): Promise<Clone | null> {
  try {
    return await readClonePath(io, '.');
  } catch (error) {
    if (error instanceof CliError && error.code === 'NOT_A_CLONE') return null;
    throw error;
  }
}

export function readClonePath(io: Io, path: string): Promise<Clone> {
  return readClone(resolve(path), io.env);
}

/** Does what `signalbox up` does. Resolves when everything that it started has ended. */
export async function bringUp(given: Io, choice: UpChoice): Promise<ExitCode> {
  const io = { ...given, env: withoutHubSettings(given.env) };
  const { config, clone } = choice;
  const started = await startUnlessRunning(config, choice.consoleDir);
  try {
    const { baseUrl } = started;
    const { access, login } = await openAccess(io, config, baseUrl, clone);
    const client = createHubClient(io, baseUrl, login.token);
    const session = { client, baseUrl, workspaceId: login.workspaceId };
    if (clone !== null) await linkRepository(io, session, clone);
    sayUp(io, choice, { baseUrl, access, login, isStarted: started.hub !== null });
    const left = clone === null ? noClone : await runAgent(io, login, clone, started.hub);
    if (left === null) return exitCodes.ok;
    // Before the note: who reads it may press Ctrl-C.
    const stopped = started.hub === null ? Promise.resolve() : untilSignal();
    io.note(asTyped(left));
    await stopped;
    return exitCodes.ok;
  } catch (error) {
    throw explainHubError(error);
  } finally {
    if (started.hub !== null) {
      if (!io.json) io.note('Stopping the hub.');
      await started.hub.stop();
    }
  }
}

/** `up` is about the hub of this machine; a tool must not see the secrets of its settings. */
function withoutHubSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const foreign = /^(SVC_|SIGNALBOX_(URL|TOKEN|TOKEN_FILE|WORKSPACE)$)/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !foreign.test(name)));
}

/** @returns the hub that it has started; null: another process runs it. */
async function startUnlessRunning(
  config: Config,
  consoleDir = findBuiltConsole(),
): Promise<{ baseUrl: string; hub: Hub | null }> {
  const running = await findRunningHub(config);
  if (running !== null) return { baseUrl: running, hub: null };
  try {
    const { hub } = await startHub(config, consoleDir === undefined ? {} : { consoleDir });
    return { baseUrl: hub.baseUrl, hub };
  } catch (error) {
    // Of two that start at once, one finds the data directory locked.
    const other = await findRunningHub(config);
    if (other === null) throw explainHubError(error);
    return { baseUrl: other, hub: null };
  }
}

/** Finds the login of this machine, or makes one, with the first owner if the hub has none. */
async function openAccess(
  io: Io,
  config: Config,
  baseUrl: string,
  clone: Clone | null,
): Promise<{ access: LocalAccess; login: Login }> {
  const found = await findLogin(io, baseUrl);
  const access = await openLocalAccess(config, {
    baseUrl,
    owner: await describeOwner(clone),
    machineName: hostname(),
    login: found && { personId: found.personId, workspaceId: found.login.workspaceId },
  });
  const { workspaceId, workspaceSlug, token } = access;
  const loggedInAt = new Date().toISOString();
  const made = { url: baseUrl, workspaceSlug, workspaceId, token: token ?? '', loggedInAt };
  const login = found?.login ?? made;
  // A login that exists becomes the current one.
  await saveLogin(io.env, login);
  return { access, login };
}

/** The login of a person to this hub, if the hub still accepts it. */
async function findLogin(
  io: Io,
  baseUrl: string,
): Promise<{ login: Login; personId: string } | null> {
  for (const login of await readLogins(io.env)) {
    if (login.url !== baseUrl) continue;
    const client = createHubClient(io, baseUrl, login.token);
    try {
      const { kind, principalId } = await client.tokens.whoami();
      if (kind === 'device') return { login, personId: principalId };
    } catch (error) {
      // Another hub had the address before, or the token has ended.
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return null;
}

/** The first owner of a new hub: who commits in this clone, else the user of this machine. */
async function describeOwner(clone: Clone | null): Promise<LocalAccessDraft['owner']> {
  const { username } = userInfo();
  const word = username.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const slug = word.replace(/^-+|-+$/g, '').slice(0, 40) || 'main';
  const email = await askGitConfig(clone, 'user.email');
  return {
    name: ((await askGitConfig(clone, 'user.name')) || username).slice(0, 200),
    email: /^[^\s@]+@[^\s@]+$/.test(email) && email.length <= 320 ? email : `${slug}@localhost`,
    workspaceSlug: slug,
    workspaceName: slug,
  };
}

async function askGitConfig(clone: Clone | null, key: string): Promise<string> {
  const place = clone === null ? [] : ['-C', clone.path];
  try {
    const { stdout } = await promisify(execFile)('git', [...place, 'config', '--get', key]);
    return oneLine(stdout.trim());
  } catch {
    // Not set, or there is no git.
    return '';
  }
}

interface Up {
  baseUrl: string;
  access: LocalAccess;
  login: Login;
  isStarted: boolean;
}

function sayUp(io: Io, { config, clone, opensBrowser }: UpChoice, up: Up): void {
  const { access, login } = up;
  const { signInUrl: link, person } = access;
  const { workspaceSlug } = login;
  const dataDir = resolve(config.dataDir);
  if (io.json) {
    const url = up.baseUrl;
    const path = clone?.path ?? null;
    io.printJson({ event: 'up', url, dataDir, workspaceSlug, signInUrl: link, clone: path });
    return;
  }
  const { bold, cyan, dim } = io.styles;
  printFields(io, [
    ['Hub', `${up.baseUrl}  ${dim(up.isStarted ? 'started' : 'runs already')}`],
    ['Data', dataDir],
    [
      'Account',
      `${oneLine(person.name)}  ${dim(`${oneLine(person.email)}, workspace ${workspaceSlug}`)}`,
    ],
  ]);
  const isOpened = opensBrowser && openBrowser(io, link);
  io.print();
  io.print(
    bold(isOpened ? 'Your browser opens the console. If it does not, open:' : 'Open the console:'),
  );
  io.print(`  ${cyan(link)}`);
  io.print(dim('  The link signs you in, once, within an hour.'));
  io.print();
}

const noClone = 'To let an agent work on a clone, run there:  signalbox up';

/**
 * Runs an agent for the clone.
 * @returns null if a person has ended it by a signal; else why none runs now.
 */
async function runAgent(
  io: Io,
  login: Login,
  clone: Clone,
  hub: Hub | null,
): Promise<string | null> {
  let isEnded = false;
  try {
    await startForClone(io, login, clone, {
      onSignal: () => {
        isEnded = true;
      },
      sameSignalMs: io.env.npm_lifecycle_event === undefined ? 0 : SAME_SIGNAL_MS,
    });
    return isEnded ? null : 'The agent has ended.';
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    if (error.code === 'AGENT_ALREADY_RUNNING') return 'An agent works on this clone already.';
    // The hub stays, if this command runs it: the console is open.
    if (hub === null) throw error;
    return `No agent was started. ${error.message} ${error.fix ?? ''}`.trimEnd();
  }
}

async function untilSignal(): Promise<void> {
  const received = new AbortController();
  const { signal } = received;
  await Promise.race([once(process, 'SIGINT', { signal }), once(process, 'SIGTERM', { signal })]);
  received.abort();
}

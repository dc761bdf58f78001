import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { CliError } from '../cli-error.ts';
import { addHubOptions, defineCommand, type HubOptions } from '../command-module.ts';
import { asTyped } from '../command-name.ts';
import { exitCodes } from '../exit-codes.ts';
import { configDirectory } from '../hub/config-file.ts';
import { choosePlace, createHubClient, openHubSession } from '../hub/hub-session.ts';
import { readLinkedClones } from '../hub/linked-clones.ts';
import { describeFailure } from '../terminal/exit.ts';
import type { Io } from '../terminal/io.ts';

interface Finding {
  name: string;
  /** `missing`: not an error, but something is not available. */
  state: 'ok' | 'missing' | 'warning' | 'wrong';
  message: string;
}

const VERSION_TIMEOUT_MS = 10_000;

/**
 * `signalbox doctor`: checks what commands and agents need, or with `--hub` what a hub needs, on
 * its machine and with its settings; changes nothing. Exit code 1 if something is wrong. With
 * `--json`: `{ok, findings: [{name, state, message}]}`.
 */
export const command = defineCommand<HubOptions & { hub?: true }>({
  describe(program) {
    program.option(
      '--hub',
      'check a hub instead: its disk, database, key, address, mail and store',
    );
    program.option('--data-dir <value>', 'with --hub: its data directory; SVC_DATA_DIR');
  },

  chooseHub: addHubOptions,

  async run({ io, options }) {
    const findings = options.hub
      ? await checkHubSide(io, { ...options })
      : await checkMachine(io, options);
    const isHealthy = findings.every(({ state }) => state !== 'wrong');
    if (io.json) io.printJson({ ok: isHealthy, findings });
    else printFindings(io, findings);
    return isHealthy ? exitCodes.ok : exitCodes.failed;
  },
});

/** Loads the hub's code only here, because agents and other commands do without it. */
async function checkHubSide(io: Io, options: Record<string, unknown>): Promise<Finding[]> {
  const { diagnose } = await import('./hub/diagnose.ts');
  return diagnose(io.env, options);
}

async function checkMachine(io: Io, options: HubOptions): Promise<Finding[]> {
  return [
    { name: 'Node', state: 'ok', message: process.versions.node },
    await checkProgram('git', 'wrong', 'not installed; agents need git for their worktrees'),
    ...(await checkTools(io)),
    await checkHooks(io),
    { name: 'Settings', state: 'ok', message: configDirectory(io.env) },
    await check('Hub', () => checkHub(io, options)),
    await check('Login', () => checkLogin(io, options)),
    await check('Clones', () => checkClones(io, options)),
  ];
}

async function checkTools(io: Io): Promise<Finding[]> {
  const { diagnoseTools } = await import('./agent/diagnose-tools.ts');
  return diagnoseTools(io.env);
}

async function checkHooks(io: Io): Promise<Finding> {
  const { findHooks } = await import('./agent/hook-status.ts');
  try {
    const hooks = await findHooks(io.env, null);
    const tools = hooks.map(({ tool }) => tool).join(', ');
    if (hooks.length > 0) return { name: 'Hooks', state: 'ok', message: `installed for ${tools}` };
    const message = 'not installed; they ask about your own sessions in your inbox';
    return { name: 'Hooks', state: 'missing', message };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { name: 'Hooks', state: 'warning', message: error.message };
  }
}

async function check(name: string, read: () => Promise<string>): Promise<Finding> {
  try {
    return { name, state: 'ok', message: await read() };
  } catch (error) {
    const { message, fix } = describeFailure(error);
    return { name, state: 'wrong', message: fix === null ? message : `${message} ${asTyped(fix)}` };
  }
}

function checkProgram(
  name: string,
  otherwise: 'missing' | 'wrong',
  remedy: string,
): Promise<Finding> {
  return new Promise((resolve) => {
    execFile(name, ['--version'], { timeout: VERSION_TIMEOUT_MS }, (error, stdout) => {
      const version = stdout.split('\n')[0]?.trim() ?? '';
      if (error === null) resolve({ name, state: 'ok', message: version });
      else resolve({ name, state: otherwise, message: remedy });
    });
  });
}

async function checkHub(io: Io, options: HubOptions): Promise<string> {
  const { baseUrl } = await choosePlace(io, options);
  const startMs = performance.now();
  await createHubClient(io, baseUrl, undefined).health.health();
  return `${baseUrl} answers in ${Math.round(performance.now() - startMs)} ms`;
}

async function checkLogin(io: Io, options: HubOptions): Promise<string> {
  const { client } = await openHubSession(io, options);
  const who = await client.tokens.whoami();
  return `${who.displayName} in ${who.workspaceSlug ?? 'every workspace'}`;
}

async function checkClones(io: Io, options: HubOptions): Promise<string> {
  const { baseUrl, workspaceId } = await openHubSession(io, options);
  const clones = await readLinkedClones(io.env, { url: baseUrl, workspaceId });
  const missing = clones.filter(({ path }) => !existsSync(path)).map(({ path }) => path);
  if (missing.length > 0) throw new Error(`Missing: ${missing.join(', ')}.`);
  return clones.length === 0 ? 'none linked yet' : `${clones.length} linked`;
}

function printFindings(io: Io, findings: readonly Finding[]): void {
  const { green, yellow, red, dim } = io.styles;
  const marks = { ok: green('✔'), missing: yellow('–'), warning: yellow('!'), wrong: red('✖') };
  for (const { name, state, message } of findings) {
    io.print(`${marks[state]} ${dim(name.padEnd(9))} ${message}`);
  }
}

import { basename } from 'node:path';
import {
  type AcpExecutorOptions,
  acpAdapters,
  acpAgentNames,
  type ClaudeExecutorOptions,
  type CodexExecutorOptions,
  canSpeakAcp,
  createAcpExecutor,
  createClaudeExecutor,
  createCodexExecutor,
  createCommandExecutor,
  createOwnToolExecutor,
  createPermissionPolicy,
  type Executor,
  findOnPath,
  type OwnToolOptions,
  PermissionFileError,
  type PermissionRule,
  programOf,
  readPermissionFile,
} from '@signalbox/agent';
import { CliError } from '../../cli-error.ts';
import { launcherFile } from '../../command-name.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { Io } from '../../terminal/io.ts';
import { adaptersDirectory, provideAdapter } from './provide-adapter.ts';

/** The command by which coding tools start the server of their job's own tools. */
export const jobServer = { file: process.execPath, args: [launcherFile, 'mcp'] };

/** How a tool is driven: by the Agent Client Protocol, or by its own command line. */
export const toolProtocols = ['acp', 'cli'] as const;

/** Rules of permission: a file of them, or rules of the configuration file. */
export type Permissions = { file: string } | { rules: readonly PermissionRule[] };

export interface ToolChoice {
  /** A known tool or a command line; undefined: the first known tool on the PATH. */
  name?: string | undefined;
  /** A tool that its person has described. */
  own?: Omit<OwnToolOptions, 'name'> | undefined;
  /** undefined: ACP if a known tool can speak it, for a command line its own. */
  protocol?: (typeof toolProtocols)[number] | undefined;
  model?: string | undefined;
  /** These need ACP. */
  mode?: string | undefined;
  effort?: string | undefined;
  /** In order: the first rule that matches decides. */
  permissions?: readonly Permissions[];
  shareApprovals?: NonNullable<AcpExecutorOptions['shareApprovals']>;
  shareChanges?: NonNullable<AcpExecutorOptions['shareChanges']>;
  /** These need the tool's own command line. */
  allow?: string[] | undefined;
  permissionMode?: ClaudeExecutorOptions['permissionMode'] | undefined;
  sandbox?: CodexExecutorOptions['sandbox'] | undefined;
  trustRepository?: boolean | undefined;
}

/** A tool, and what its person should know about how it is driven. */
export interface ChosenExecutor {
  executor: Executor;
  warnings: string[];
}

/** Whether a tool can ask people for permissions, as far as its settings say. */
export function canAskPeople({
  name,
  protocol,
  own,
}: Pick<ToolChoice, 'name' | 'protocol' | 'own'>): boolean {
  if (own !== undefined) return false;
  const isKnown = name === undefined || acpAgentNames.includes(name);
  return protocol === 'acp' || (isKnown && protocol !== 'cli');
}

/** The name of a tool that its person has described: by default that of its program. */
export function ownToolName(command: string, name: string | undefined): string {
  return name ?? basename(programOf(command));
}

/**
 * Selects the coding tool. One that can ask people does, unless its adapter cannot be had.
 * @param runAs the tool runs as another user, who cannot reach what this person has installed.
 * @throws {CliError} EXECUTOR_MISSING, PERMISSIONS_INVALID.
 */
export async function chooseExecutor(
  choice: ToolChoice,
  io: Io,
  { runAs = false }: { runAs?: boolean } = {},
): Promise<ChosenExecutor> {
  if (choice.own !== undefined) {
    const name = ownToolName(choice.own.command, choice.name);
    return { executor: createOwnToolExecutor({ ...choice.own, name }), warnings: [] };
  }
  const name = choice.name ?? (await findTool(io.env));
  if (!canAskPeople({ ...choice, name }))
    return { executor: ownCommand(name, choice), warnings: [] };
  const adaptersDir = runAs ? undefined : adaptersDirectory(io.env);
  const isKnown = acpAgentNames.includes(name);
  if (isKnown && !(await canSpeakAcp(name, io.env, adaptersDir)) && name in acpAdapters) {
    const isNeeded = needsAcp(choice);
    const lack = await provideAdapter(name, io, { runAs, isNeeded });
    if (lack !== null && isNeeded) throw missing(lack.reason, lack.fix);
    if (lack !== null) {
      return { executor: ownCommand(name, choice), warnings: [lostText(name, lack)] };
    }
  }
  return { executor: await overAcp(name, choice, adaptersDir), warnings: [] };
}

/** The first known tool on the PATH. */
async function findTool(env: NodeJS.ProcessEnv): Promise<string> {
  for (const name of acpAgentNames) {
    if ((await findOnPath(name, env)) !== null) return name;
  }
  throw missing(
    `None of ${acpAgentNames.join(', ')} is on the PATH.`,
    'Install one of them, or use any command: signalbox agent start --tool "…"',
  );
}

/** Settings that would have no effect otherwise, so that the start is refused instead. */
function needsAcp({ protocol, mode, effort, permissions, shareApprovals }: ToolChoice): boolean {
  const settings = [mode, effort, permissions, shareApprovals];
  return protocol === 'acp' || settings.some((value) => value !== undefined);
}

function lostText(name: string, { reason, fix }: { reason: string; fix: string }): string {
  const told = fix === '' ? reason : `${reason} ${fix}`;
  return `${name} runs by its own command line and cannot ask you for permissions: ${told}`;
}

async function overAcp(
  agent: string,
  choice: ToolChoice,
  adaptersDir: string | undefined,
): Promise<Executor> {
  const { model, mode, effort, shareApprovals, shareChanges } = choice;
  const rules: PermissionRule[] = [];
  for (const each of choice.permissions ?? []) rules.push(...(await readRules(each)));
  return createAcpExecutor({
    agent,
    model,
    mode,
    effort,
    jobServer,
    permissions: createPermissionPolicy(rules),
    ...(adaptersDir === undefined ? {} : { adaptersDir }),
    ...(shareApprovals === undefined ? {} : { shareApprovals }),
    ...(shareChanges === undefined ? {} : { shareChanges }),
  });
}

async function readRules(given: Permissions): Promise<readonly PermissionRule[]> {
  if ('rules' in given) return given.rules;
  try {
    return await readPermissionFile(given.file);
  } catch (error) {
    if (!(error instanceof PermissionFileError)) throw error;
    throw new CliError(exitCodes.usage, 'PERMISSIONS_INVALID', error.message, { cause: error });
  }
}

function ownCommand(name: string, choice: ToolChoice): Executor {
  const { model, allow, permissionMode, trustRepository, sandbox } = choice;
  const common = { jobServer, ...(model === undefined ? {} : { model }) };
  if (name === 'claude') {
    return createClaudeExecutor({
      ...common,
      ...(allow === undefined ? {} : { allowedTools: allow }),
      ...(permissionMode === undefined ? {} : { permissionMode }),
      ...(trustRepository === undefined ? {} : { trustRepository }),
    });
  }
  if (name === 'codex') {
    return createCodexExecutor({ ...common, ...(sandbox === undefined ? {} : { sandbox }) });
  }
  return createCommandExecutor({ command: name });
}

function missing(message: string, fix: string): CliError {
  return new CliError(exitCodes.usage, 'EXECUTOR_MISSING', message, { fix });
}

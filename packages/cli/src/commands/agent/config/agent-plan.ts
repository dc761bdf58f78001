import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { agentDefaults, CHECK_LIMIT_MS_DEFAULT, type CheckCommand } from '@signalbox/agent';
import { configDirectory } from '../../../hub/config-file.ts';
import type { Permissions } from '../choose-acp.ts';
import type { ToolChoice } from '../choose-executor.ts';
import type { StartOptions } from '../start-options.ts';
import {
  type AgentConfig,
  agentConfig,
  type RepositorySettings,
  type ToolSettings,
} from './config-keys.ts';
import { readSettingsFile, type Sourced } from './setting-reader.ts';

/** The settings in force for a repository, and where each comes from. */
export interface RepositoryPlan {
  tool: ToolSettings;
  hold: Sourced<number>;
  /** The first rule that matches decides; those of the repository come first. */
  permissions: readonly Sourced<Permissions>[];
  shareApprovals: Sourced<NonNullable<ToolChoice['shareApprovals']>>;
  shareChanges: Sourced<NonNullable<ToolChoice['shareChanges']>>;
  base?: Sourced<string> | undefined;
  fetch: Sourced<boolean>;
  checks: readonly Sourced<CheckCommand>[];
  /** Of checks without a limit of their own. */
  checkLimit: Sourced<number>;
  repositoryChecks: Sourced<boolean>;
  push: Sourced<boolean>;
  pullRequest: Sourced<boolean>;
  environment: Readonly<Record<string, Sourced<string>>>;
}

/** The settings in force for an agent. Flags go before the file, the file before the defaults. */
export interface AgentPlan {
  /** Null: the agent has no file. */
  file: string | null;
  url?: Sourced<string> | undefined;
  workspace?: Sourced<string> | undefined;
  name: Sourced<string>;
  jobs: Sourced<number>;
  labels: Readonly<Record<string, Sourced<string>>>;
  readOnly: Sourced<boolean>;
  lease: Sourced<number>;
  timeLimit: Sourced<number>;
  hooks?: Sourced<string> | undefined;
  runAs?: Sourced<string> | undefined;
  stateDir?: Sourced<string> | undefined;
  /** For repositories that the file does not name. */
  general: RepositoryPlan;
  /** The repositories that the file names; null: it names none, so all linked clones. */
  repositories: readonly { reference: Sourced<string>; plan: RepositoryPlan }[] | null;
}

/** Where the file is without `--config`. */
export function defaultConfigFile(env: NodeJS.ProcessEnv): string {
  return join(configDirectory(env), 'agent.yaml');
}

/**
 * Reads the configuration file, and lays the flags over it.
 * @throws {CliError} CONFIG_INVALID, CONFIG_UNREADABLE.
 */
export async function planAgent(
  options: Partial<StartOptions>,
  env: NodeJS.ProcessEnv,
): Promise<AgentPlan> {
  const file = chooseFile(options.config, env);
  const config = file === null ? {} : await readSettingsFile(file, agentConfig);
  const general = planRepository(options, config);
  const entries = config.repositories?.value;
  return {
    ...{ file, general },
    url: config.url,
    workspace: config.workspace,
    name: flag(options.name, '--name') ?? config.name ?? byDefault(hostname()),
    jobs: flag(options.jobs, '--jobs') ?? config.jobs ?? byDefault(1),
    labels: { ...config.labels?.value, ...sourced(options.label, '--label') },
    readOnly: flag(options.readOnly, '--read-only') ?? config['read-only'] ?? byDefault(false),
    lease: flag(options.lease, '--lease') ?? config.lease ?? byDefault(agentDefaults.leaseMs),
    timeLimit:
      flag(options.timeLimit, '--time-limit') ??
      config['time-limit'] ??
      byDefault(agentDefaults.jobTimeLimitMs),
    hooks: flag(options.hooks, '--hooks') ?? config.hooks,
    runAs: flag(options.runAs, '--run-as') ?? config['run-as'],
    stateDir: flag(options.stateDir, '--state-dir') ?? config['state-dir'],
    repositories:
      entries?.map(({ value, from }) => ({
        reference: { value: value.path?.value ?? value.id?.value ?? '', from },
        plan: planRepository(options, config, value),
      })) ?? null,
  };
}

function chooseFile(given: string | false | undefined, env: NodeJS.ProcessEnv): string | null {
  if (given === false) return null;
  if (given !== undefined) return given;
  const file = defaultConfigFile(env);
  return existsSync(file) ? file : null;
}

function planRepository(
  options: Partial<StartOptions>,
  config: AgentConfig,
  own: RepositorySettings = {},
): RepositoryPlan {
  const permissions = flag(options.permissions, '--permissions');
  const share = { ...config.share?.value, ...own.share?.value };
  return {
    tool: planTool(options, (own.tool ?? config.tool)?.value ?? {}),
    hold:
      flag(options.hold, '--hold') ?? own.hold ?? config.hold ?? byDefault(agentDefaults.holdMs),
    permissions:
      permissions === undefined
        ? [own.permissions, config.permissions].filter((each) => each !== undefined)
        : [{ value: { file: permissions.value }, from: permissions.from }],
    shareApprovals:
      flag(options.shareApprovals, '--share-approvals') ?? share.approvals ?? byDefault('command'),
    shareChanges:
      flag(options.shareChanges, '--share-changes') ?? share.changes ?? byDefault('stat'),
    base: flag(options.base, '--base') ?? own.base ?? config.base,
    fetch: flag(options.fetch, '--fetch') ?? own.fetch ?? config.fetch ?? byDefault(false),
    checks:
      options.check?.map((command) => ({ value: { command }, from: '--check' })) ??
      (own.checks ?? config.checks)?.value ??
      [],
    checkLimit:
      flag(options.checkLimit, '--check-limit') ??
      own['check-limit'] ??
      config['check-limit'] ??
      byDefault(CHECK_LIMIT_MS_DEFAULT),
    repositoryChecks:
      flag(options.repositoryChecks, '--repository-checks') ??
      own['repository-checks'] ??
      config['repository-checks'] ??
      byDefault(false),
    push: flag(options.push, '--push') ?? own.push ?? config.push ?? byDefault(false),
    pullRequest: flag(options.pr, '--pr') ?? own.pr ?? config.pr ?? byDefault(false),
    environment: { ...config.environment?.value, ...own.environment?.value },
  };
}

/** A flag that names a tool replaces the file's; other flags of the tool change single settings. */
function planTool(options: Partial<StartOptions>, inFile: ToolSettings): ToolSettings {
  const isNamed = [options.executor, options.command, options.acp].some(
    (name) => name !== undefined,
  );
  const allow = options.allow?.map((value) => ({ value, from: '--allow' }));
  const flags = {
    executor: flag(options.executor, '--executor'),
    command: flag(options.command, '--command'),
    acp: flag(options.acp, '--acp'),
    model: flag(options.model, '--model'),
    mode: flag(options.mode, '--mode'),
    effort: flag(options.effort, '--effort'),
    allow: flag(allow, '--allow'),
    'permission-mode': flag(options.permissionMode, '--permission-mode'),
    sandbox: flag(options.sandbox, '--sandbox'),
    'trust-repository': flag(options.trustRepository, '--trust-repository'),
  };
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  return { ...(isNamed ? {} : inFile), ...Object.fromEntries(given) };
}

/** The choice of a tool, for a repository of an agent. */
export async function toolChoiceOf(
  plan: AgentPlan,
  { tool, permissions, shareApprovals, shareChanges }: RepositoryPlan,
): Promise<ToolChoice> {
  const choice: ToolChoice = {
    executor: tool.executor?.value,
    command: tool.command?.value,
    acp: tool.acp?.value,
    model: tool.model?.value,
    mode: tool.mode?.value,
    effort: tool.effort?.value,
    allow: tool.allow?.value.map(({ value }) => value),
    permissionMode: tool['permission-mode']?.value,
    sandbox: tool.sandbox?.value,
    trustRepository: tool['trust-repository']?.value,
  };
  // A flag for questions is wrong where no tool asks. The file may be meant for another tool.
  const plans = plan.repositories?.map((each) => each.plan) ?? [plan.general];
  const isForOthers = plans.some((each) => each.tool.acp !== undefined);
  const isInForce = ({ from }: Sourced<unknown>) =>
    tool.acp !== undefined || (from.startsWith('--') && !isForOthers);
  if (isInForce(shareApprovals)) choice.shareApprovals = shareApprovals.value;
  // Tools without questions have no use for it, but the evidence of their jobs does.
  if (tool.acp !== undefined) choice.shareChanges = shareChanges.value;
  const inForce = permissions.filter(isInForce);
  if (inForce.length > 0) choice.permissions = inForce.map(({ value }) => value);
  return choice;
}

function flag<T>(value: T | undefined, name: string): Sourced<T> | undefined {
  return value === undefined ? undefined : { value, from: name };
}

function byDefault<T>(value: T): Sourced<T> {
  return { value, from: 'default' };
}

function sourced(values: Readonly<Record<string, string>> | undefined, from: string) {
  const entries = Object.entries(values ?? {});
  return Object.fromEntries(entries.map(([name, value]) => [name, { value, from }]));
}

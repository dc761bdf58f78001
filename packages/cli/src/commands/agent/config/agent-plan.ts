import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  agentDefaults,
  CHECK_LIMIT_MS_DEFAULT,
  type CheckCommand,
  type LandingWay,
  type Rung,
} from '@signalbox/agent';
import { configDirectory } from '../../../hub/config-file.ts';
import { canAskPeople, type Permissions, type ToolChoice } from '../choose-executor.ts';
import type { StartOptions } from '../start-options.ts';
import {
  type AgentConfig,
  agentConfig,
  type RepositorySettings,
  type SetupSettings,
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
  setup: SetupSettings;
  checks: readonly Sourced<CheckCommand>[];
  /** Of checks without a limit of their own. */
  checkLimit: Sourced<number>;
  repositoryChecks: Sourced<boolean>;
  push: Sourced<boolean>;
  pullRequest: Sourced<boolean>;
  /** Absent: `base`, or the default branch of the clone. */
  landInto?: Sourced<string> | undefined;
  landBy: Sourced<LandingWay>;
  pushBase: Sourced<boolean>;
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
  /** `auto`: what holds with the other settings. */
  isolation: Sourced<Rung | 'auto'>;
  /** Paths that a wrapped tool may read, beside what it needs anyway. */
  readable: readonly Sourced<string>[];
  /** Of each repository. */
  warmWorktrees: Sourced<number>;
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
  const file = options.config ?? findDefaultFile(env);
  const config = file === null ? {} : await readSettingsFile(file, agentConfig);
  const general = planRepository(options, config);
  const entries = config.repositories?.value;
  const jobs = flag(options.jobs, '--jobs') ?? config.jobs ?? byDefault(1);
  return {
    file,
    general,
    url: config.url,
    workspace: config.workspace,
    name: flag(options.name, '--name') ?? config.name ?? byDefault(hostname()),
    jobs,
    labels: { ...config.labels?.value, ...sourced(options.label, '--label') },
    readOnly: config['read-only'] ?? byDefault(false),
    lease: config.lease ?? byDefault(agentDefaults.leaseMs),
    timeLimit: config['time-limit'] ?? byDefault(agentDefaults.jobTimeLimitMs),
    hooks: config.hooks,
    runAs: config['run-as'],
    isolation: config.isolation ?? byDefault('auto'),
    readable: config.readable?.value ?? [],
    warmWorktrees: config['warm-worktrees'] ?? byDefault(jobs.value),
    stateDir: config['state-dir'],
    repositories:
      entries?.map(({ value, from }) => ({
        reference: { value: value.path?.value ?? value.id?.value ?? '', from },
        plan: planRepository(options, config, value),
      })) ?? null,
  };
}

function findDefaultFile(env: NodeJS.ProcessEnv): string | null {
  const file = defaultConfigFile(env);
  return existsSync(file) ? file : null;
}

function planRepository(
  options: Partial<StartOptions>,
  config: AgentConfig,
  own: RepositorySettings = {},
): RepositoryPlan {
  const share = { ...config.share?.value, ...own.share?.value };
  const landing = { ...config.landing?.value, ...own.landing?.value };
  return {
    tool: planTool(options, (own.tool ?? config.tool)?.value ?? {}),
    hold: own.hold ?? config.hold ?? byDefault(agentDefaults.holdMs),
    permissions: [own.permissions, config.permissions].filter((each) => each !== undefined),
    shareApprovals: share.approvals ?? byDefault('command'),
    shareChanges: share.changes ?? byDefault('stat'),
    base: own.base ?? config.base,
    fetch: own.fetch ?? config.fetch ?? byDefault(false),
    setup: (own.setup ?? config.setup)?.value ?? {},
    checks:
      options.check?.map((command) => ({ value: { command }, from: '--check' })) ??
      (own.checks ?? config.checks)?.value ??
      [],
    checkLimit: own['check-limit'] ?? config['check-limit'] ?? byDefault(CHECK_LIMIT_MS_DEFAULT),
    repositoryChecks: own['repository-checks'] ?? config['repository-checks'] ?? byDefault(false),
    push: flag(options.push, '--push') ?? own.push ?? config.push ?? byDefault(false),
    pullRequest: flag(options.pr, '--pr') ?? own.pr ?? config.pr ?? byDefault(false),
    landInto: landing.into,
    landBy: landing.by ?? byDefault('merge'),
    pushBase: landing.push ?? byDefault(false),
    environment: { ...config.environment?.value, ...own.environment?.value },
  };
}

/** `--tool` replaces the file's tool with all its settings; `--model` changes that one setting. */
function planTool(options: Partial<StartOptions>, inFile: ToolSettings): ToolSettings {
  const model = flag(options.model, '--model');
  const name = flag(options.tool, '--tool');
  const tool = name === undefined ? inFile : { name };
  return model === undefined ? tool : { ...tool, model };
}

/** The choice of a tool, for a repository of an agent. */
export function toolChoiceOf({
  tool,
  permissions,
  shareApprovals,
  shareChanges,
}: RepositoryPlan): ToolChoice {
  const choice: ToolChoice = {
    name: tool.name?.value,
    own: ownToolOf(tool),
    protocol: tool.protocol?.value,
    model: tool.model?.value,
    mode: tool.mode?.value,
    effort: tool.effort?.value,
    allow: tool.allow?.value.map(({ value }) => value),
    permissionMode: tool['permission-mode']?.value,
    sandbox: tool.sandbox?.value,
    trustRepository: tool['trust-repository']?.value,
  };
  if (!canAskPeople(choice)) return choice;
  choice.shareChanges = shareChanges.value;
  // By default it is a setting of every tool, and needs no adapter.
  if (shareApprovals.from !== 'default') choice.shareApprovals = shareApprovals.value;
  if (permissions.length > 0) choice.permissions = permissions.map(({ value }) => value);
  return choice;
}

/** Undefined: the tool is a known one, or a plain command. */
export function ownToolOf({ command, prompt, resume, session }: ToolSettings): ToolChoice['own'] {
  if (command === undefined) return undefined;
  return {
    command: command.value,
    prompt: prompt?.value,
    resume: resume?.value,
    session: session === undefined ? undefined : new RegExp(session.value),
  };
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

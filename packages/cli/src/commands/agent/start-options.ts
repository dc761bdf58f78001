import { claudePermissionModes, codexSandboxes } from '@signalbox/agent';
import { LEASE_MS_MAX, LEASE_MS_MIN } from '@signalbox/contract';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { addHubOptions, addJsonOption, type HubOptions } from '../../command-module.ts';
import { parseDurationMs } from '../../terminal/duration.ts';
import { parseInteger } from '../../terminal/numbers.ts';
import { executorNames, type ToolChoice } from './choose-executor.ts';
import { addLandingOptions, type LandingChoice } from './choose-landing.ts';

/** The flags of `agent start`. Those that are absent come from the configuration file. */
export interface StartOptions extends HubOptions, LandingChoice, Omit<ToolChoice, 'permissions'> {
  /** A file; false: none, `--no-config`. */
  config?: string | false;
  permissions?: string;
  jobs?: number;
  label?: Record<string, string>;
  name?: string;
  once?: true;
  lease?: number;
  timeLimit?: number;
  repo?: string[];
  base?: string;
  fetch?: true;
  readOnly?: true;
  hooks?: string;
  runAs?: string;
  stateDir?: string;
}

/** Adds the options that `agent start` and `agent config` have in common. */
export function addStartOptions(program: Command, jsonText: string): void {
  program
    .option('--config <file>', 'the configuration file (default: agent.yaml beside the logins)')
    .option('--no-config', 'read no configuration file')
    .option('--once', 'claim one job, finish it, and exit with its outcome');
  addToolOptions(program.optionsGroup('The coding tool:'));
  addAcpOptions(program.optionsGroup('A tool that can ask people:'));
  addJobOptions(program.optionsGroup('Which jobs, and how:'));
  addLandingOptions(program.optionsGroup('What happens to the work:'));
  addJsonOption(program.optionsGroup('Options:'), jsonText);
  addHubOptions(program);
}

function addToolOptions(program: Command): void {
  program
    .addOption(
      new Option(
        '--executor <tool>',
        'the coding tool (default: the first one on the PATH)',
      ).choices(executorNames),
    )
    .option('--command <line>', 'run this for each job: prompt on standard input, in a worktree')
    .option('--model <name>', 'the model for claude or codex')
    .option(
      '--allow <rule>',
      "what claude may do without asking, such as 'Bash(npm test:*)'; repeatable",
      collect,
    )
    .addOption(
      new Option('--permission-mode <mode>', 'of claude (default: acceptEdits)').choices(
        claudePermissionModes,
      ),
    )
    .addOption(
      new Option('--sandbox <mode>', 'of codex (default: workspace-write)').choices(codexSandboxes),
    )
    .option('--trust-repository', "let the repository's own hooks of claude run");
}

function addAcpOptions(program: Command): void {
  program
    .option(
      '--acp <tool>',
      'claude, codex, opencode, gemini, or the command of any tool that speaks ACP',
    )
    .option('--mode <name>', 'the mode of its sessions')
    .option('--effort <level>', 'how hard its model thinks')
    .option('--permissions <file>', 'rules for what it may do without asking a person')
    .option(
      '--hold <time>',
      'how long a question waits for a person (default: 5m)',
      parseDurationMs,
    )
    .addOption(
      new Option(
        '--share-approvals <extent>',
        'what people see of an action (default: command)',
      ).choices(['full', 'command', 'digest']),
    )
    .addOption(
      new Option(
        '--share-changes <extent>',
        'what the hub gets of changed files (default: stat)',
      ).choices(['names', 'stat', 'patch']),
    );
}

function addJobOptions(program: Command): void {
  program
    .option('--jobs <number>', 'concurrent jobs (default: 1)', parseInteger({ min: 1, max: 1_000 }))
    .option('--repo <path|id>', 'only this linked clone; repeatable', collect)
    .option(
      '--base <ref>',
      "the commit that jobs start from (default: the clone's current checkout)",
    )
    .option('--fetch', "fetch from the clone's origin before each job")
    .option('--read-only', 'claim only read-only jobs')
    .option('--label <name=value>', 'a label that jobs may require; repeatable', readLabel)
    .option('--name <text>', 'name of the agent (default: the name of this machine)')
    .option(
      '--lease <time>',
      'how long a job stays leased without a renewal, such as 10m',
      readLease,
    )
    .option('--time-limit <time>', 'time limit of one job, such as 2h', parseDurationMs)
    .option('--hooks <dir>', 'directory of environment, pre-checkout, pre-command, post-command')
    .option('--run-as <user>', 'run the tool as this user, who cannot read what the agent keeps')
    .option('--state-dir <dir>', "the agent's own directory; not shared between agents");
}

function collect(value: string, values: string[] = []): string[] {
  return [...values, value];
}

function readLabel(text: string, labels: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError('It must have the form name=value, such as os=linux.');
  }
  return { ...labels, [name]: value };
}

function readLease(text: string): number {
  const leaseMs = parseDurationMs(text);
  if (leaseMs < LEASE_MS_MIN || leaseMs > LEASE_MS_MAX) {
    throw new InvalidArgumentError('It must be from 1s to 24h.');
  }
  return leaseMs;
}

import { type Command, InvalidArgumentError } from 'commander';
import type { HubOptions } from '../../command-module.ts';
import { parseInteger } from '../../terminal/numbers.ts';
import { addLandingOptions, type LandingChoice } from './choose-landing.ts';

/**
 * The flags of `agent start`: what a person changes from one start to the next. They go before the
 * configuration file, which has all other settings.
 */
export interface StartOptions extends HubOptions, LandingChoice {
  config?: string;
  dryRun?: true;
  tool?: string;
  model?: string;
  jobs?: number;
  label?: Record<string, string>;
  name?: string;
  once?: true;
  repo?: string[];
}

export function addStartOptions(program: Command): void {
  program
    .option(
      '--tool <tool>',
      'claude, codex, opencode, gemini, or a command line in quotes that gets the prompt on ' +
        'standard input (default: the first of these tools on the PATH)',
    )
    .option('--model <name>', 'the model of jobs that ask for none')
    .option('--once', 'claim one job, finish it, and exit with its outcome')
    .option('--jobs <number>', 'concurrent jobs (default: 1)', parseInteger({ min: 1, max: 1_000 }))
    .option('--repo <path|id>', 'only this linked clone; repeatable', collect)
    .option('--label <name=value>', 'a label that jobs may require; repeatable', readLabel)
    .option('--name <text>', 'name of the agent (default: the name of this machine)');
  addLandingOptions(program);
  program
    .option('--config <file>', 'all other settings (default: agent.yaml beside the logins)')
    .option('--dry-run', 'show which settings are in force, and start nothing');
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

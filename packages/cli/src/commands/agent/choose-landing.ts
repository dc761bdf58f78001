import { CHECK_COMMAND_CHARS_MAX, CHECK_LIMIT_MS_MAX, CHECKS_MAX } from '@signalbox/agent';
import { type Command, InvalidArgumentError } from 'commander';
import { parseDurationMs } from '../../terminal/duration.ts';

/** The options of `agent start` about the commits of finished jobs. */
export interface LandingChoice {
  check?: string[];
  checkLimit?: number;
  repositoryChecks?: true;
  push?: true;
  pr?: true;
}

export function addLandingOptions(program: Command): void {
  program
    .option('--check <command>', 'run this on each commit, as evidence; repeatable', collectCheck)
    .option('--check-limit <time>', 'time limit of one check (default: 10m)', readLimit)
    .option('--repository-checks', 'also run what .signalbox/checks.json of the base commit lists')
    .option('--push', "push the branch of each job that is done to the clone's origin")
    .option('--pr', 'push, and open a pull request with gh, or a merge request with glab');
}

function collectCheck(command: string, checks: string[] = []): string[] {
  if (command.trim() === '') throw new InvalidArgumentError('It must be a command.');
  if (command.length > CHECK_COMMAND_CHARS_MAX) {
    throw new InvalidArgumentError(`It must have at most ${CHECK_COMMAND_CHARS_MAX} characters.`);
  }
  if (checks.length === CHECKS_MAX) {
    throw new InvalidArgumentError(`At most ${CHECKS_MAX} checks are possible.`);
  }
  return [...checks, command];
}

function readLimit(text: string): number {
  const limitMs = parseDurationMs(text);
  if (limitMs < 1 || limitMs > CHECK_LIMIT_MS_MAX) {
    throw new InvalidArgumentError('It must be at most 24h.');
  }
  return limitMs;
}

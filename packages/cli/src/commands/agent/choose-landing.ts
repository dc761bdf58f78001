import { CHECK_COMMAND_CHARS_MAX, CHECKS_MAX } from '@signalbox/agent';
import { type Command, InvalidArgumentError } from 'commander';

/** The options of `agent start` about the commits of finished jobs. */
export interface LandingChoice {
  check?: string[];
  push?: true;
  pr?: true;
}

export function addLandingOptions(program: Command): void {
  program
    .option('--check <command>', 'run this on each commit, as evidence; repeatable', collectCheck)
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

import { SETUP_FILE, SetupFileError, type SetupOptions, type SetupSteps } from '@signalbox/agent';
import { CliError } from '../../../cli-error.ts';
import { committedSetup, type SetupSettings } from './config-keys.ts';
import { parseSettings, type Sourced } from './setting-reader.ts';

/** The set-up of a repository, as the agent runs it. */
export function setupOf(settings: SetupSettings): SetupOptions {
  const { copy, link } = settings;
  return {
    copy: valuesOf(copy),
    link: valuesOf(link),
    ...(settings.from === undefined ? stepsOf(settings) : { readSteps: readCommittedSetup }),
  };
}

/**
 * Reads the file that a commit has, by the rules of the agent's own.
 *
 * @throws {SetupFileError} with every mistake.
 */
function readCommittedSetup(text: string): SetupSteps {
  try {
    // YAML allows more.
    JSON.parse(text);
    return stepsOf(parseSettings(text, SETUP_FILE, committedSetup));
  } catch (error) {
    if (error instanceof SyntaxError) throw new SetupFileError(`${SETUP_FILE} is not valid JSON.`);
    if (!(error instanceof CliError)) throw error;
    throw new SetupFileError(error.message.replaceAll('\n  ', ' '));
  }
}

function stepsOf({ run, ports, database, teardown }: SetupSettings): SetupSteps {
  return {
    run: valuesOf(run),
    teardown: valuesOf(teardown),
    ports: ports?.value ?? 0,
    database: database?.value ?? false,
  };
}

function valuesOf<T>(list: Sourced<Sourced<T>[]> | undefined): T[] {
  return list?.value.map(({ value }) => value) ?? [];
}

import type { Config } from '@signalbox/hub';
import { CliError } from '../../cli-error.ts';
import {
  type CommandCall,
  type CommandModule,
  type CommandParts,
  defineCommand,
} from '../../command-module.ts';
import type { ExitCode } from '../../exit-codes.ts';
import {
  addSettings,
  databaseSettings,
  explainHubError,
  noteHub,
  readHubConfig,
} from './admin-settings.ts';

interface AdminCommand<Options> extends CommandParts {
  /** The settings of the hub that the command takes. */
  settings?: typeof databaseSettings;
  run(call: AdminCall<Options>): Promise<ExitCode | undefined>;
}

type AdminCall<Options> = Omit<CommandCall, 'options'> & { options: Options; config: Config };

/** Defines a command that works on the database of a hub, which it names first. */
export function defineAdminCommand<Options>({
  settings = databaseSettings,
  run,
  ...parts
}: AdminCommand<Options>): CommandModule {
  return defineCommand<Options & Record<string, unknown>>({
    ...parts,
    chooseHub: (program) => addSettings(program.optionsGroup('Which hub:'), settings),
    async run(call) {
      const config = readHubConfig(call.io.env, call.options);
      noteHub(call.io, config);
      try {
        return await run({ ...call, config });
      } catch (error) {
        throw error instanceof CliError ? error : explainHubError(error);
      }
    },
  });
}

import {
  addHubOptions,
  type CommandCall,
  type CommandModule,
  type CommandParts,
  defineCommand,
  type HubOptions,
} from '../command-module.ts';
import type { ExitCode } from '../exit-codes.ts';
import { type HubSession, openHubSession } from './hub-session.ts';

interface HubCommand<Options> extends CommandParts {
  /** Refuses options that do not go together, before the hub is asked. */
  check?(options: Options, args: CommandCall['args']): void;
  run(call: HubCall<Options>): Promise<ExitCode | undefined>;
}

/** A call of a command, with a session of the hub that its options choose. */
type HubCall<Options> = Omit<CommandCall, 'options'> &
  Pick<HubSession, 'client' | 'workspaceId'> & { options: Options; session: HubSession };

/** Defines a command that talks to a hub: with the options that choose it, and a session. */
export function defineHubCommand<Options = unknown>({
  check,
  run,
  ...parts
}: HubCommand<Options & HubOptions>): CommandModule {
  return defineCommand<Options & HubOptions>({
    ...parts,
    chooseHub: addHubOptions,
    async run(call) {
      check?.(call.options, call.args);
      const session = await openHubSession(call.io, call.options);
      const { client, workspaceId } = session;
      return await run({ ...call, session, client, workspaceId });
    },
  });
}

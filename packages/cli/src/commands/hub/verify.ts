import { verifyHub } from '@signalbox/hub';
import { defineCommand } from '../../command-module.ts';
import { exitCodes } from '../../exit-codes.ts';
import {
  addSettings,
  databaseSettings,
  explainHubError,
  noteHub,
  readHubConfig,
} from './admin-settings.ts';

/**
 * `signalbox verify [DIR]`: checks all data of a hub, running or stopped, or of a backup. Changes
 * nothing. Exit code 1 if something is wrong. With `--json`: `{ok, parts: [{name, extent,
 * problems}]}`.
 */
export const command = defineCommand<Record<never, never>>({
  describe(program) {
    program.argument('[dir]', 'a backup; without it, the hub of the settings');
  },

  chooseHub: (program) => addSettings(program.optionsGroup('Which hub:'), databaseSettings),
  examples: [
    ['signalbox verify', 'the hub of this user'],
    ['signalbox verify /backup/monday', 'a backup'],
  ],

  async run({ io, args, options }) {
    const config = readHubConfig(io.env, { ...options });
    if (args[0] === undefined) noteHub(io, config);
    try {
      const parts = await verifyHub(config, args[0] ?? null);
      const isWhole = parts.every(({ problems }) => problems.length === 0);
      if (io.json) io.printJson({ ok: isWhole, parts });
      else {
        for (const { name, extent, problems } of parts) {
          const { green, red, dim } = io.styles;
          const mark = problems.length === 0 ? green('✔') : red('✖');
          io.print(`${mark} ${name}  ${dim(extent)}`);
          for (const problem of problems) io.print(`    ${problem}`);
        }
      }
      return isWhole ? exitCodes.ok : exitCodes.failed;
    } catch (error) {
      throw explainHubError(error);
    }
  },
});

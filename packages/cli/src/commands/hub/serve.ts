import { findBuiltConsole, settings, startFromEnvironment } from '@signalbox/hub';
import { defineCommand } from '../../command-module.ts';
import { addSettings, explainHubError, flagsOf } from './admin-settings.ts';

/**
 * `signalbox serve`: runs a hub in the foreground until SIGTERM or SIGINT. Every setting of the hub
 * has a flag here; flags take precedence over the environment.
 */
export const command = defineCommand<Record<string, string>>({
  describe(program) {
    addSettings(program, Object.values(settings));
  },

  json: 'report a failed start as JSON',
  examples: [
    ['signalbox serve', 'on 127.0.0.1:4400, data in ~/.local/share/signalbox'],
    ['signalbox serve --port 5000 --data-dir /var/lib/signalbox', 'another port and directory'],
  ],

  async run({ options }) {
    const argv = flagsOf(options).flatMap(([{ flag }, value]) => [`--${flag}`, value]);
    const consoleDir = findBuiltConsole();
    try {
      await startFromEnvironment({ argv, ...(consoleDir === undefined ? {} : { consoleDir }) });
    } catch (error) {
      throw explainHubError(error);
    }
  },
});

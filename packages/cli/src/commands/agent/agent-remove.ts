import { rm } from 'node:fs/promises';
import { CliError } from '../../cli-error.ts';
import { defineCommand } from '../../command-module.ts';
import { exitCodes } from '../../exit-codes.ts';
import { addServiceOption, checkServiceName, type ServiceOptions } from './unit/plan-unit.ts';
import { readServiceFile } from './unit/unit-disk.ts';
import { findServiceHost, isRunning, runLine } from './unit/unit-host.ts';

/**
 * `signalbox agent service remove`: ends the service of an agent and removes its file. Its jobs
 * return to the queue; logins, clones and configuration stay. With `--json`: `{ok, service, file}`.
 */
export const command = defineCommand<ServiceOptions>({
  describe: addServiceOption,

  async run({ io, options }) {
    const name = checkServiceName(options.service);
    const host = findServiceHost(io.env);
    const file = host.fileOf(name);
    if ((await readServiceFile(file)) === null) {
      const message = `The service ${name} is not installed: ${file} does not exist.`;
      throw new CliError(exitCodes.usage, 'SERVICE_NOT_INSTALLED', message);
    }
    const { before, after } = host.stopLines(name);
    for (const line of before) {
      try {
        await runLine(line, io.env);
      } catch (error) {
        // A service that was never started cannot be ended. One that runs keeps its file.
        if (await isRunning(host, name, io.env)) throw error;
      }
    }
    await rm(file);
    for (const line of after) await runLine(line, io.env);
    if (io.json) return io.printJson({ ok: true, service: name, file });
    io.print(`${io.styles.green('✔')} The service ${name} has ended, and ${file} is removed.`);
    return undefined;
  },
});

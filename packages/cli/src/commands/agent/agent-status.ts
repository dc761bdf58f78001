import { existsSync } from 'node:fs';
import { defineCommand } from '../../command-module.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { printFields } from '../../terminal/table.ts';
import { addServiceOption, checkServiceName, type ServiceOptions } from './unit/plan-unit.ts';
import { readServiceFile } from './unit/unit-disk.ts';
import { programIn } from './unit/unit-file.ts';
import { findServiceHost, isRunning } from './unit/unit-host.ts';

/**
 * `signalbox agent service status`: shows the service of an agent. Exits with 1 if it does not run.
 * With `--json`: `{ok, service, file, installed, running, missingProgram}`.
 */
export const command = defineCommand<ServiceOptions>({
  describe: addServiceOption,

  async run({ io, options }) {
    const name = checkServiceName(options.service);
    const host = findServiceHost(io.env);
    const file = host.fileOf(name);
    const content = await readServiceFile(file);
    const installed = content !== null;
    const running = installed && (await isRunning(host, name, io.env));
    const program = content === null ? null : programIn(content);
    const missingProgram = program !== null && !existsSync(program) ? program : null;
    const code: ExitCode = running ? exitCodes.ok : exitCodes.failed;
    if (io.json) {
      io.printJson({ ok: running, service: name, file, installed, running, missingProgram });
      return code;
    }
    const { green, yellow, dim } = io.styles;
    const stopped = installed ? 'does not run' : 'is not installed';
    printFields(io, [
      ['Service', `${name} ${running ? green('runs') : yellow(stopped)}`],
      ['File', installed ? file : dim(`${file} does not exist`)],
      ['Program', missingProgram === null ? program : `${missingProgram} ${yellow('is missing')}`],
      ['Log', installed ? host.logLine(name) : null],
    ]);
    const fix = installed && missingProgram === null ? null : 'signalbox agent service install';
    if (fix !== null) io.note(`  ${io.errorStyles.dim('Fix')}  ${fix}`);
    return code;
  },
});

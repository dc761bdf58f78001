import { rm } from 'node:fs/promises';
import { defineCommand } from '../../command-module.ts';
import type { Io } from '../../terminal/io.ts';
import { printFields } from '../../terminal/table.ts';
import { chooseExecutor } from './choose-executor.ts';
import { type AgentPlan, planAgent, toolChoiceOf } from './config/agent-plan.ts';
import {
  addServiceOption,
  checkServiceName,
  planService,
  type ServiceOptions,
} from './unit/plan-unit.ts';
import { readServiceFile, writeServiceFile } from './unit/unit-disk.ts';
import { findServiceHost, runLine, type ServiceHost } from './unit/unit-host.ts';

interface Options extends ServiceOptions {
  config?: string;
  dryRun?: true;
  /** `--no-start`: false. */
  start: boolean;
}

/**
 * `signalbox agent service install`: lets systemd or launchd keep an agent of this user running.
 * Writes the whole file or none. With `--json`: `{ok, service, file, content, started}`.
 */
export const command = defineCommand<Options>({
  describe(program) {
    program
      .option('--config <file>', 'the configuration file of the agent')
      .option('--dry-run', 'show what would be written and run, and change nothing')
      .option('--no-start', 'write the file, and start nothing');
    addServiceOption(program);
  },

  examples: [
    ['signalbox agent service install --dry-run', 'show the unit'],
    ['signalbox agent service install', 'install it, or replace it after a change'],
    ['signalbox agent service install --service night --config night.yaml', 'a second agent'],
  ],

  async run({ io, options }) {
    const name = checkServiceName(options.service);
    const host = findServiceHost(io.env);
    // A mistake in the file is found here, not in the log of a service that does not start.
    const config = options.config === undefined ? {} : { config: options.config };
    const plan = await planAgent(config, io.env);
    // The service has no terminal on which it could offer to install an adapter.
    if (io.isInteractive && !options.dryRun) await offerAdapters(plan, io);
    const service = await planService(io.env, { name, config: options.config });
    const install = { host, name, file: host.fileOf(name), content: host.contentOf(service) };
    const before = await readServiceFile(install.file);
    if (options.dryRun) return showPlan(io, install, before !== null);
    await writeServiceFile(install.file, install.content);
    if (options.start) await startService(io, install, before);
    if (io.json) {
      const { file, content } = install;
      return io.printJson({ ok: true, service: name, file, content, started: options.start });
    }
    sayInstalled(io, install, options.start);
  },
});

async function offerAdapters(plan: AgentPlan, io: Io): Promise<void> {
  const plans = plan.repositories?.map((each) => each.plan) ?? [plan.general];
  for (const each of plans) {
    const { warnings } = await chooseExecutor(toolChoiceOf(each), io, {
      runAs: plan.runAs !== undefined,
    });
    for (const warning of warnings) io.note(warning);
  }
}

interface Install {
  host: ServiceHost;
  name: string;
  file: string;
  content: string;
}

function showPlan(io: Io, { host, name, file, content }: Install, isReplaced: boolean): undefined {
  const lines = host.startLines(name, isReplaced).map((line) => line.join(' '));
  if (io.json) return io.printJson({ ok: true, service: name, file, content, wouldRun: lines });
  const { bold, dim } = io.styles;
  io.print(`${bold(file)}${isReplaced ? dim('  (replaced)') : ''}`);
  io.printText(content);
  for (const line of lines) io.print(dim(`$ ${line}`));
}

/** Without a start the file is as before: whole, or not there. */
async function startService(
  io: Io,
  { host, name, file }: Install,
  before: string | null,
): Promise<void> {
  try {
    for (const line of host.startLines(name, before !== null)) await runLine(line, io.env);
  } catch (error) {
    if (before === null) await rm(file);
    else await writeServiceFile(file, before);
    throw error;
  }
}

function sayInstalled(io: Io, { host, name, file }: Install, isStarted: boolean): void {
  const { green } = io.styles;
  io.print(
    `${green('✔')} ${isStarted ? 'The agent runs, and starts with this machine.' : 'Written.'}`,
  );
  printFields(io, [
    ['File', file],
    ['Log', host.logLine(name)],
    [
      'Status',
      `signalbox agent service status${name === 'signalbox-agent' ? '' : ` --service ${name}`}`,
    ],
    ['Note', host.advice()],
  ]);
}

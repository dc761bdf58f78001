import { addExamples, defineCommand } from '../../command-module.ts';
import { defaultConfigFile, planAgent } from './config/agent-plan.ts';
import { printPlan, rowsOf } from './config/config-text.ts';
import { addStartOptions, type StartOptions } from './start-options.ts';

/**
 * `signalbox agent config`: shows what is in force for `agent start` with the same flags, and where
 * each value comes from. Asks no hub. With `--json`: `{ok, file, settings}`.
 */
export const command = defineCommand<StartOptions>({
  describe(program) {
    addStartOptions(program, 'print one JSON document');
    addExamples(program, [
      ['signalbox agent config', 'check the configuration file, and show what is in force'],
      ['signalbox agent config --config ci.yaml --hold 1m', 'with the same flags as agent start'],
    ]);
  },

  async run({ io, options }) {
    const plan = await planAgent(options, io.env);
    if (io.json) return io.printJson({ ok: true, file: plan.file, settings: rowsOf(plan) });
    printPlan(io, plan, defaultConfigFile(io.env));
    return undefined;
  },
});

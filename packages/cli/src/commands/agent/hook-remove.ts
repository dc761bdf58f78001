import type { HookTool } from '@signalbox/contract';
import { Argument } from 'commander';
import { defineCommand } from '../../command-module.ts';
import { addProjectOption, chooseFile, type HookOptions, parseTool } from './hook/hook-command.ts';
import { planRemove, writeHookEdit } from './hook/hook-file.ts';

/**
 * `signalbox hook remove TOOL`: takes the hook out of the tool's configuration. With `--json`:
 * `{ok, tool, file, changed}`.
 */
export const command = defineCommand<HookOptions & { dryRun?: true }>({
  describe(program) {
    program
      .addArgument(new Argument('<tool>', 'claude or codex').argParser(parseTool))
      .option('--dry-run', 'show which file would be changed, and change nothing');
    addProjectOption(program);
  },

  async run({ io, args, options }) {
    const tool = args[0] as HookTool;
    const file = await chooseFile(tool, io.env, options);
    const edit = await planRemove(file, tool);
    const changed = edit.before !== edit.after;
    if (changed && !options.dryRun) await writeHookEdit(edit, { copy: 'delete' });
    if (io.json) return io.printJson({ ok: true, tool, file, changed });
    const { green, bold } = io.styles;
    if (!changed) io.print(`The hook is not installed in ${bold(file)}.`);
    else if (options.dryRun) io.print(`The hook would be removed from ${bold(file)}.`);
    else io.print(`${green('✔')} Removed from ${bold(file)}.`);
  },
});

import type { HookTool } from '@signalbox/contract';
import { Argument } from 'commander';
import { defineCommand } from '../../command-module.ts';
import {
  addProjectOption,
  chooseFile,
  durationWord,
  type HookOptions,
  hookNatures,
  parseTool,
  parseWaitMs,
} from './hook/hook-command.ts';
import { type HookHandler, planInstall, readHook, writeHookEdit } from './hook/hook-file.ts';
import { lastingProgram } from './unit/plan-unit.ts';

interface Options extends HookOptions {
  wait?: number;
  dryRun?: true;
}

/** The tool ends a hook at its limit; before that, the hook takes its question back. */
const LIMIT_MARGIN_MS = 10_000;

/**
 * `signalbox hook install TOOL`: has the sessions of a coding tool that this person starts ask in
 * the inbox, too. Shows what it writes, and keeps a copy of the former file. With `--json`: `{ok,
 * tool, file, handler, changed}`.
 */
export const command = defineCommand<Options>({
  describe(program) {
    program
      .addArgument(new Argument('<tool>', 'claude or codex').argParser(parseTool))
      .option('--wait <time>', 'how long it waits (default: claude 1h, codex 5m)', parseWaitMs)
      .option('--dry-run', 'show what would be written, and change nothing');
    addProjectOption(program);
  },

  examples: [
    ['signalbox hook install claude', 'all sessions of Claude Code on this machine'],
    ['signalbox hook install codex --wait 2m', 'the terminal asks after two minutes'],
    ['signalbox hook install claude --project --dry-run', 'show the file of this clone'],
  ],

  async run({ io, args, options }) {
    const tool = args[0] as HookTool;
    const file = await chooseFile(tool, io.env, options);
    const handler = handlerOf(tool, io.env, options.wait ?? hookNatures[tool].waitMs);
    const isInstalled = (await readHook(file, tool)) !== null;
    const edit = await planInstall(file, tool, handler);
    const changed = edit.before !== edit.after;
    if (!io.json) {
      const { bold, green, dim } = io.styles;
      io.print(`${bold(file)}${changed ? '' : dim('  (as it is)')}`);
      const shown = JSON.stringify({ PermissionRequest: [{ hooks: [handler] }] }, null, 2);
      if (changed) for (const line of shown.split('\n')) io.print(green(`+ ${line}`));
    }
    if (changed && !options.dryRun) {
      await writeHookEdit(edit, { copy: isInstalled ? 'keep' : 'make' });
    }
    if (io.json) return io.printJson({ ok: true, tool, file, handler, changed });
    if (options.dryRun) io.note('Nothing was changed.');
    else io.print(`${io.styles.green('✔')} ${nextWords[tool]}`);
  },
});

const nextWords: Readonly<Record<HookTool, string>> = {
  claude: 'Installed. New sessions of Claude Code ask in your inbox, too.',
  codex: 'Installed. Codex runs it once you trust it: start codex, enter /hooks, and trust it.',
};

function handlerOf(tool: HookTool, env: NodeJS.ProcessEnv, waitMs: number): HookHandler {
  const wait = durationWord(waitMs);
  const words = lastingProgram(env, env.PATH ?? '', {
    what: 'a hook',
    code: 'HOOK_NEEDS_INSTALL',
    line: `signalbox hook install ${tool}`,
  }).map(quote);
  // Without a shell between them, the hook sees when its tool has ended.
  const exec = process.platform === 'win32' ? [] : ['exec'];
  const line = [...exec, ...words, 'hook', 'run', tool, '--wait', wait];
  return {
    type: 'command',
    command: line.join(' '),
    timeout: (waitMs + LIMIT_MARGIN_MS) / 1_000,
    ...(hookNatures[tool].asksAtOnce
      ? {}
      : { statusMessage: `Asked in Signalbox; this terminal asks after ${wait}` }),
  };
}

function quote(word: string): string {
  if (/^[\w@%+=:,./\\-]+$/.test(word)) return word;
  return process.platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`;
}

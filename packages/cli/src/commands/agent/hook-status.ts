import { resolve } from 'node:path';
import { type HookTool, hookTools } from '@signalbox/contract';
import { CliError } from '../../cli-error.ts';
import { defineCommand } from '../../command-module.ts';
import { printFields } from '../../terminal/table.ts';
import { hookFileOf, readHook } from './hook/hook-file.ts';
import { readClone } from './read-clone.ts';

interface InstalledHook {
  tool: HookTool;
  file: string;
  command: string;
}

/**
 * `signalbox hook status`: shows the hooks of this person, and those of the clone here. With
 * `--json`: `{ok, hooks: [{tool, file, command}]}`.
 */
export const command = defineCommand<{ json?: true }>({
  async run({ io }) {
    const hooks = await findHooks(io.env, await findRoot(io.env));
    if (io.json) return io.printJson({ ok: true, hooks });
    if (hooks.length === 0) io.print('No hooks. Install one: signalbox hook install claude');
    for (const { tool, file, command: line } of hooks) {
      printFields(io, [
        ['Tool', tool],
        ['File', file],
        ['Runs', line],
      ]);
    }
  },
});

/** The installed hooks. @param root of a clone that may have its own; null: none. */
export async function findHooks(
  env: NodeJS.ProcessEnv,
  root: string | null,
): Promise<InstalledHook[]> {
  const places = [null, ...(root === null ? [] : [root])];
  const found = hookTools.flatMap((tool) =>
    places.map(async (place) => {
      const file = hookFileOf(tool, env, place);
      const handler = await readHook(file, tool);
      return handler === null ? [] : [{ tool, file, command: handler.command }];
    }),
  );
  return (await Promise.all(found)).flat();
}

async function findRoot(env: NodeJS.ProcessEnv): Promise<string | null> {
  try {
    return (await readClone(resolve('.'), env)).path;
  } catch (error) {
    if (error instanceof CliError) return null;
    throw error;
  }
}

import { resolve } from 'node:path';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import { readLinkedClones, unlinkClone } from '../hub/linked-clones.ts';
import { oneLine } from '../terminal/text.ts';

/**
 * `signalbox repo unlink [PATH]`: agents on this machine no longer work on a clone. The repository
 * stays in the workspace, and the clone as it is. With `--json`: `{ok, repoId, path}`.
 */
export const command = defineHubCommand({
  describe(program) {
    program.argument('[path]', 'the path of a linked clone, or its repository ID', '.');
  },

  examples: [['signalbox repo unlink ~/src/api', 'a clone that was moved, too']],

  async run({ io, args, workspaceId, session }) {
    const { baseUrl } = session;
    const text = args[0] ?? '.';
    const path = resolve(text);
    const clones = await readLinkedClones(io.env, { url: baseUrl, workspaceId });
    const linked = clones.find(
      (clone) => clone.repoId === text || path === clone.path || path.startsWith(`${clone.path}/`),
    );
    if (linked === undefined) {
      throw new CliError(exitCodes.refused, 'REPO_NOT_LINKED', `No linked clone is at ${path}.`, {
        fix: 'List them: signalbox repo list',
      });
    }
    await unlinkClone(io.env, linked);
    if (io.json) return io.printJson({ ok: true, repoId: linked.repoId, path: linked.path });
    const { green, bold, dim } = io.styles;
    io.print(`${green('✔')} Unlinked ${bold(oneLine(linked.label))} ${dim(linked.path)}`);
    io.note('Agents that run already serve it until they are started again.');
  },
});

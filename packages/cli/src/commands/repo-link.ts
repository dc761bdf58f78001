import { resolve } from 'node:path';
import { addHubOptions, defineCommand, type HubOptions } from '../command-module.ts';
import { openHubSession } from '../hub/hub-session.ts';
import { linkRepository } from '../hub/link-repository.ts';
import { oneLine } from '../terminal/text.ts';
import { readClone } from './agent/read-clone.ts';

/**
 * `signalbox repo link [PATH]`: registers a repository in the workspace (by the hash of its remote,
 * never its URL) and stores the path of its clone on this machine. With `--json`: `{ok, created,
 * repo, path}`.
 */
export const command = defineCommand<HubOptions & { label?: string }>({
  describe(program) {
    program
      .argument('[path]', 'a path in the clone', '.')
      .option('--label <text>', "the repository's name for people (default: owner/name)");
  },

  chooseHub: addHubOptions,
  examples: [
    ['signalbox repo link', 'the clone in the current directory'],
    ['signalbox repo link ~/src/api --label "API"', 'another clone, with a label'],
  ],

  async run({ io, args, options }) {
    const clone = await readClone(resolve(args[0] ?? '.'), io.env);
    const session = await openHubSession(io, options);
    const { repo, created, replaced } = await linkRepository(io, session, clone, options.label);
    const { repoId } = repo;
    const { path } = clone;
    if (io.json) return io.printJson({ ok: true, created, repo, path });
    const { green, bold, dim } = io.styles;
    io.print(`${green('✔')} Linked ${bold(oneLine(repo.label))} ${dim(repoId)}`);
    io.print(`  ${dim('Clone')}  ${path}`);
    if (replaced !== null) io.note(`It replaces the clone ${replaced}.`);
    if (repo.status === 'archived')
      io.note('The repository is archived, so its jobs are not claimed.');
    if (!clone.hasOrigin) {
      io.note('The clone has no origin, so only this machine can work on the repository.');
    }
  },
});

import type { Repository } from '@signalbox/contract';
import { asTyped } from '../command-name.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import { readLinkedClones } from '../hub/linked-clones.ts';
import { collectPages } from '../terminal/pages.ts';
import { printTable } from '../terminal/table.ts';
import { oneLine } from '../terminal/text.ts';

/**
 * `signalbox repo list`: lists the repositories of the workspace, with their clones on this
 * machine. With `--json`: `{ok, repos}`, each with `path` (null: not linked on this machine).
 */
export const command = defineHubCommand({
  async run({ io, client, workspaceId, session }) {
    const { baseUrl } = session;
    const found = await collectPages(Infinity, 'repos', (page) =>
      client.repositories.list({ workspaceId, ...page }),
    );
    const clones = await readLinkedClones(io.env, { url: baseUrl, workspaceId });
    const pathOf = new Map(clones.map(({ repoId, path }) => [repoId, path]));
    const repos = found.rows.map((repo) => ({ ...repo, path: pathOf.get(repo.repoId) ?? null }));
    if (io.json) return io.printJson({ ok: true, repos });
    if (repos.length === 0) {
      const next = asTyped('Add a clone: signalbox repo link PATH');
      io.print(`This workspace has no repositories yet. ${next}`);
      return;
    }
    const { dim, bold } = io.styles;
    printTable<Repository & { path: string | null }>(
      io,
      [
        { title: 'REPOSITORY', text: ({ label }) => oneLine(label) || '–', style: bold },
        { title: 'ID', text: ({ repoId }) => repoId, style: dim },
        { title: 'STATUS', text: ({ status }) => status },
        { title: 'LOCAL CLONE', text: ({ path }) => path ?? '–' },
      ],
      repos,
    );
  },
});

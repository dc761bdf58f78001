import type { ContextItemKind, ContextItemSummary } from '@signalbox/contract';
import { contextItemKinds } from '@signalbox/contract';
import { Option } from 'commander';
import { defineHubCommand } from '../hub/hub-command.ts';
import { formatAge } from '../terminal/duration.ts';
import { withoutMarks } from '../terminal/markdown-text.ts';
import { parseInteger } from '../terminal/numbers.ts';
import { collectPages } from '../terminal/pages.ts';
import { printTable } from '../terminal/table.ts';
import { oneLine } from '../terminal/text.ts';

type Options = { kind?: ContextItemKind; limit: number };

/**
 * `signalbox context [WORDS…]`: lists the context items of the workspace, the newest first; with
 * words, those that have them, best match first. With `--json`: `{ok, items}`, with excerpts.
 */
export const command = defineHubCommand<Options>({
  describe(program) {
    program
      .argument('[words...]', 'search for them')
      .addOption(new Option('--kind <kind>', 'only items of this kind').choices(contextItemKinds))
      .option('--limit <number>', 'how many', parseInteger({ min: 1, max: 1_000 }), 30);
  },

  examples: [
    ['signalbox context public endpoint', 'search'],
    ['signalbox context --kind decision', 'what was decided'],
  ],

  async run({ io, args, options, client, workspaceId }) {
    const query = args.join(' ').trim();
    const { kind, limit } = options;
    const { rows } = await collectPages(limit, 'items', (page) =>
      query === ''
        ? client.contextItems.list({ workspaceId, kind, ...page })
        : client.contextItems.search({ workspaceId, query, kinds: kind && [kind], ...page }),
    );
    if (io.json) return io.printJson({ ok: true, items: rows });
    if (rows.length === 0) {
      io.print(query === '' ? 'This workspace has no context yet.' : 'Nothing has these words.');
      return undefined;
    }
    const nowMs = Date.now();
    const { dim, bold } = io.styles;
    printTable<ContextItemSummary>(
      io,
      [
        { title: 'ID', text: ({ itemId }) => itemId.slice(-8), style: dim },
        { title: 'KIND', text: (item) => item.kind },
        {
          title: 'TITLE',
          text: ({ title, excerpt }) =>
            oneLine(withoutMarks(title)) || oneLine(withoutMarks(excerpt)).slice(0, 80),
          style: bold,
          isFlexible: true,
        },
        { title: 'AGE', text: ({ occurredAt }) => formatAge(occurredAt, nowMs), style: dim },
        { title: 'TRUST', text: ({ trust }) => trust, isOptional: true },
        { title: 'SOURCE', text: ({ source }) => oneLine(source), isOptional: true },
      ],
      rows,
    );
  },
});

import { findIdByEnding, type IdKind } from '../find/id-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import { withoutMarks } from '../terminal/markdown-text.ts';
import { collectPages } from '../terminal/pages.ts';
import { printFields } from '../terminal/table.ts';
import { cleanText, oneLine } from '../terminal/text.ts';

const itemId: IdKind = {
  prefix: 'ctx',
  name: 'context item',
  code: 'CONTEXT_ITEM',
  fix: 'List items: signalbox context',
  fixAmbiguous: (id) => `Give more of the ID, such as: signalbox context show ${id}`,
};

/** `signalbox context show ID`: prints a context item. With `--json`: `{ok, item}`. */
export const command = defineHubCommand({
  describe(program) {
    program.argument('<id>', 'the ID of an item, or its end, as shown by signalbox context');
  },

  async run({ io, args, client, workspaceId }) {
    const id = await findIdByEnding(itemId, args[0] ?? '', async (idsMax) => {
      const list = { workspaceId, includeSuperseded: true };
      const { rows } = await collectPages(idsMax, 'items', (page) =>
        client.contextItems.list({ ...list, ...page }),
      );
      return rows.map((item) => item.itemId);
    });
    const { item } = await client.contextItems.get({ workspaceId, itemId: id });
    if (io.json) return io.printJson({ ok: true, item });
    printFields(io, [
      ['Title', io.styles.bold(oneLine(withoutMarks(item.title)) || '–')],
      ['Kind', `${item.kind} · ${item.trust}${item.pinned ? ' · pinned' : ''}`],
      [
        'Source',
        [item.source, item.sourceRef]
          .filter((part) => part !== null)
          .map(String)
          .map(oneLine)
          .join(' · '),
      ],
      ['Time', item.occurredAt],
      ['Replaced by', item.supersededBy],
      ['ID', item.itemId],
    ]);
    io.print();
    for (const line of cleanText(item.text).trimEnd().split('\n')) io.print(line);
  },
});

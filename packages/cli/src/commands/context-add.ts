import { readFile } from 'node:fs/promises';
import { type ContextItemKind, contextItemKinds } from '@signalbox/contract';
import { Option } from 'commander';
import { CliError } from '../cli-error.ts';
import { addHubOptions, defineCommand, type HubOptions } from '../command-module.ts';
import { asTyped } from '../command-name.ts';
import { exitCodes } from '../exit-codes.ts';
import { openHubSession } from '../hub/hub-session.ts';
import type { Io } from '../terminal/io.ts';
import { readText } from '../terminal/stdin-text.ts';

type Options = HubOptions & {
  kind: ContextItemKind;
  title?: string;
  file?: string;
  ref?: string;
  pin?: true;
};

/**
 * `signalbox context add [TEXT]`: adds a context item: a text, a file, or standard input. With
 * `--ref`, it replaces the item of that name. With `--json`: `{ok, itemId, item, created}`.
 */
export const command = defineCommand<Options>({
  describe(program) {
    program
      .argument('[text]', 'the text (default: standard input)')
      .option('--file <path>', 'take the text from a file')
      .option('--title <text>', 'its title')
      .addOption(new Option('--kind <kind>', 'its kind').choices(contextItemKinds).default('note'))
      .option('--ref <name>', 'its name at your side; the same name replaces the item')
      .option('--pin', 'put it into every pack');
  },

  chooseHub: addHubOptions,
  examples: [
    ["signalbox context add 'Endpoints reveal no versions' --kind decision", 'a decision'],
    ['signalbox context add --file docs/style.md --ref docs/style.md --pin', 'for every run'],
  ],

  async run({ io, args, options }) {
    const text = await readItemText(io, args[0], options.file);
    const { client, workspaceId } = await openHubSession(io, options);
    const { kind, title, ref, pin } = options;
    const { itemId, item, created } = await client.contextItems.upsert({
      workspaceId,
      kind,
      text,
      source: 'cli',
      pinned: pin === true,
      title,
      sourceRef: ref,
    });
    if (io.json) return io.printJson({ ok: true, itemId, item, created });
    const id = itemId.slice(-8);
    const what = created ? 'Added' : 'Replaced';
    const next = io.styles.dim(asTyped(`signalbox context show ${id}`));
    io.print(`${io.styles.green('✔')} ${what} ${io.styles.bold(id)}  ${next}`);
  },
});

async function readItemText(
  io: Io,
  text: string | undefined,
  file: string | undefined,
): Promise<string> {
  if (text !== undefined && file !== undefined) {
    throw new CliError(exitCodes.usage, 'USAGE', 'Give a text or --file, not both.');
  }
  if (text !== undefined) return text;
  if (file === undefined) {
    if (!io.stdin.isTTY) return await readText(io);
    throw new CliError(exitCodes.usage, 'USAGE', 'Give a text, --file, or standard input.');
  }
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const message = `${file} cannot be read: ${(cause as Error).message}`;
    throw new CliError(exitCodes.usage, 'USAGE', message, { cause });
  }
}

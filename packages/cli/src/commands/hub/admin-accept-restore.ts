import { acceptRestore } from '@signalbox/hub';
import { defineAdminCommand } from './admin-command.ts';
import { addKeepTokens, noteEpoch } from './new-epoch.ts';

/**
 * `signalbox admin accept-restore`: lets hubs serve a database that was restored from a dump, to a
 * point in time, or with its disk, and ends what was valid before. With `--json`: `{ok, epoch}`;
 * `epoch` is an `EpochReport`.
 */
export const command = defineAdminCommand<{ keepTokens?: true }>({
  describe(program) {
    addKeepTokens(program);
  },

  examples: [
    ['signalbox admin accept-restore', 'after pg_restore, before the first hub starts'],
    ['signalbox admin accept-restore --keep-tokens', 'after a move in which nothing was lost'],
  ],

  async run({ io, options, config }) {
    const epoch = await acceptRestore(config, { keepsTokens: options.keepTokens === true });
    if (io.json) return io.printJson({ ok: true, epoch });
    io.print(`${io.styles.green('✔')} Hubs may serve this database`);
    noteEpoch(io, epoch);
  },
});

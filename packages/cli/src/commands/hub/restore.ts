import { restoreHub } from '@signalbox/hub';
import { defineCommand } from '../../command-module.ts';
import { formatMoment } from '../../terminal/duration.ts';
import { addSettings, databaseSettings, explainHubError, readHubConfig } from './admin-settings.ts';
import { addKeepTokens, noteEpoch } from './new-epoch.ts';

/**
 * `signalbox restore DIR`: restores a backup into an empty data directory. Checks everything first,
 * and ends what was valid before. With `--json`: `{ok, dataDir, createdAt, hasKey, epoch}`; `epoch`
 * is an `EpochReport`.
 */
export const command = defineCommand<{ keepTokens?: true }>({
  describe(program) {
    program.argument('<dir>', 'the directory that signalbox backup wrote');
    addKeepTokens(program);
  },

  chooseHub: (program) => addSettings(program.optionsGroup('Where to:'), databaseSettings),
  examples: [
    ['signalbox restore /backup/signalbox-2026-11-02', 'into the data directory of this user'],
    ['signalbox restore /backup/monday --data-dir /var/lib/signalbox', 'into another directory'],
  ],

  async run({ io, args, options }) {
    const config = readHubConfig(io.env, { ...options });
    try {
      const keepsTokens = options.keepTokens === true;
      const restored = await restoreHub(config, args[0] ?? '', { keepsTokens });
      const { dataDir, manifest, hasKey, epoch } = restored;
      const { createdAt } = manifest;
      if (io.json) return io.printJson({ ok: true, dataDir, createdAt, hasKey, epoch });
      const { green, bold } = io.styles;
      io.print(`${green('✔')} Restored ${bold(dataDir)} as it was on ${formatMoment(createdAt)}`);
      noteEpoch(io, epoch);
      if (!hasKey) {
        io.note(`The backup has no key. Before the start, copy the hub's key to:`);
        io.note(`  ${dataDir}/secret.key`);
      }
      if (manifest.objectStore !== 'directory') {
        const { bucket } = manifest.objectStore;
        io.note(`Uploads are in the bucket ${bucket}: start with the same SVC_S3_ settings.`);
      }
      io.note(`Start the hub: signalbox serve --data-dir ${dataDir}`);
    } catch (error) {
      throw explainHubError(error);
    }
  },
});

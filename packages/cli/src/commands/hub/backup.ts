import { backUpHub } from '@signalbox/hub';
import { exitCodes } from '../../exit-codes.ts';
import { defineAdminCommand } from './admin-command.ts';

/**
 * `signalbox backup DIR`: copies a hub's data into a new directory, while the hub runs or not. Exit
 * code 1 if a file that the database names is missing or damaged. With `--json`: `{ok, path,
 * createdAt, files, sizeBytes, key, problems}`.
 */
export const command = defineAdminCommand<{ withKey?: true }>({
  describe(program) {
    program
      .argument('<dir>', 'a directory that is empty or does not exist')
      .option('--with-key', "copy the hub's key too; then keep the backup as safe as the key");
  },

  examples: [['signalbox backup /backup/signalbox-$(date +%F)', 'of the hub of this user']],

  async run({ io, args, options, config }) {
    const withKey = options.withKey === true;
    const { path, manifest, missing } = await backUpHub(config, args[0] ?? '', { withKey });
    const { files, createdAt, key, objectStore } = manifest;
    const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
    const code = missing.length === 0 ? exitCodes.ok : exitCodes.failed;
    if (io.json) {
      const count = files.length;
      io.printJson({
        ok: true,
        path,
        createdAt,
        files: count,
        sizeBytes,
        key,
        problems: missing,
      });
      return code;
    }
    const size = `${files.length} files, ${(sizeBytes / 1_048_576).toFixed(1)} MiB`;
    io.print(`${io.styles.green('✔')} Backed up to ${io.styles.bold(path)} (${size})`);
    for (const sentence of missing) io.note(`${io.styles.red('✖')} ${sentence}`);
    if (objectStore !== 'directory') {
      io.note(`Uploads are in the bucket ${objectStore.bucket}, which is not in the backup.`);
    }
    if (key.included)
      io.note('The backup holds the key: keep it where no other person can read it.');
    else io.note(`The key is not in the backup. Keep a copy of it apart: ${key.place}`);
    return code;
  },
});

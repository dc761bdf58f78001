import { readConfig, readFlags } from '@signalbox/hub';
import { describeFailure } from '../../terminal/exit.ts';
import { createIo } from '../../terminal/io.ts';
import { printFailure } from '../../words/failure-text.ts';
import { bringUp, readClonePath } from './up.ts';

export interface UpHere {
  /** Flags of the hub's settings. */
  argv: readonly string[];
  /** A path in a clone; null: no agent is started. */
  path: string | null;
  consoleDir: string | undefined;
}

/** `npm start` by a person, from a checkout. */
export async function upHere({ argv, path, consoleDir }: UpHere): Promise<void> {
  const io = createIo(new AbortController().signal, false);
  try {
    const config = readConfig(io.env, readFlags(argv));
    const clone = path === null ? null : await readClonePath(io, path);
    process.exitCode = await bringUp(io, { config, clone, consoleDir, opensBrowser: true });
  } catch (error) {
    const failure = describeFailure(error);
    printFailure(failure, { isJson: false, styles: io.errorStyles, command: 'up' });
    process.exitCode = failure.exitCode;
  }
}

import { join } from 'node:path';
import {
  type AcpAdapter,
  AdapterInstallError,
  acpAdapters,
  adapterFolder,
  findOnPath,
  installAdapter,
} from '@signalbox/agent';
import { stateDirectory } from '../../hub/config-file.ts';
import type { Io } from '../../terminal/io.ts';
import { askChoice } from '../../terminal/prompts.ts';
import { withSpinner } from '../../terminal/spinner.ts';
import { oneLine } from '../../terminal/text.ts';

/** Why a tool has no adapter, and what its person can do. */
export interface AdapterLack {
  reason: string;
  fix: string;
}

/** Where the adapters of this person's agents are installed. */
export function adaptersDirectory(env: NodeJS.ProcessEnv): string {
  return join(stateDirectory(env), 'adapters');
}

/**
 * Installs the adapter of a tool if its person agrees: on a terminal they are asked; a setting that
 * needs it is agreement too. Otherwise nothing is downloaded.
 *
 * @param name of a tool whose adapter is missing.
 * @returns null when it is installed.
 */
export async function provideAdapter(
  name: string,
  io: Io,
  { runAs, isNeeded }: { runAs: boolean; isNeeded: boolean },
): Promise<AdapterLack | null> {
  const adapter = acpAdapters[name];
  if (adapter === undefined) throw new Error(`${name} has no adapter`);
  const byHand = `Install it: npm install --global ${adapter.package}`;
  if ((await findOnPath(adapter.tool, io.env)) === null) {
    return {
      reason: `${adapter.tool} is not on the PATH.`,
      fix: `Install ${name}, and log it in.`,
    };
  }
  if (runAs) {
    const reason = 'with run-as its adapter must be on the PATH of that user.';
    return { reason, fix: byHand };
  }
  const dir = adaptersDirectory(io.env);
  if (!isNeeded) {
    if (!io.isInteractive) {
      const fix = 'Start the agent once on a terminal, which offers to install it.';
      return { reason: 'its adapter is not installed.', fix };
    }
    const isWanted = await askPerson(name, adapter, io, dir);
    if (!isWanted) return { reason: 'its adapter is not installed.', fix: '' };
  } else {
    io.note(
      `Installing ${adapter.package} (${adapter.sizeMb} MB) in ${adapterFolder(adapter, dir)}`,
    );
  }
  try {
    const { env, signal } = io;
    await withSpinner(io, `Installing ${adapter.package}`, () =>
      installAdapter(adapter, dir, { env, signal }),
    );
    return null;
  } catch (error) {
    if (!(error instanceof AdapterInstallError)) throw error;
    return {
      reason: `its adapter could not be installed: ${oneLine(error.message)}`,
      fix: byHand,
    };
  }
}

async function askPerson(name: string, adapter: AcpAdapter, io: Io, dir: string): Promise<boolean> {
  io.note(`${name} can ask you for permissions through an adapter, which is not installed yet:`);
  io.note(`  ${adapter.package}, ${adapter.sizeMb} MB, from npm into ${dir}`);
  io.note(`It runs the ${adapter.tool} that you have installed.`);
  const rows = [
    { label: 'Install it', hint: '' },
    { label: 'Continue without it', hint: 'commands that need a permission are refused' },
  ];
  return (await askChoice(io, 'Install the adapter?', rows, 0)) === 0;
}

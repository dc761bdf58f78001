import { randomInt } from 'node:crypto';
import type { Reader, Tx } from './engine.ts';
import { readHubSetting, writeHubSetting } from './hub-settings.ts';

/*
 * The epoch of a database changes with every restore of it. Claim generations count on from the
 * epoch that was current when their entry was restored, so they are never used again.
 */

export const EPOCH_SETTING = 'epoch';
/** Epochs are as far apart at least: more than an entry ever has attempts. */
const EPOCH_STEP = 1_000_000;
const MS_PER_SECOND = 1_000;

/** The epoch of a database; 0: it was never restored. */
export async function readEpoch(reader: Reader): Promise<number> {
  return Number((await readHubSetting(reader, EPOCH_SETTING)) ?? 0);
}

/** Begins a new epoch and returns it. */
export async function writeNextEpoch(tx: Tx): Promise<number> {
  const epoch = nextEpoch(await readEpoch(tx), tx.nowMs);
  await writeHubSetting(tx, EPOCH_SETTING, String(epoch));
  return epoch;
}

/**
 * An epoch that rises with time, also when the clock was set back. It is random besides: a restore
 * of the same backup before may have begun an epoch in the same second of a clock, and the database
 * does not know of it.
 */
function nextEpoch(previous: number, nowMs: number): number {
  const seconds = Math.floor(nowMs / MS_PER_SECOND);
  const later = Math.max(seconds, Math.floor(previous / EPOCH_STEP) + 2);
  return later * EPOCH_STEP + randomInt(EPOCH_STEP);
}

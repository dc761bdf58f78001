import { deriveKey, openText, sealText } from '../base/sealing.ts';
import type { ChannelRow } from './store.ts';

/** Where a channel leads. */
export interface ChannelTarget {
  kind: ChannelRow['kind'];
  url: string;
  /** The access token of an ntfy topic, or the signing secret of a webhook. */
  secret: string | null;
}

const PURPOSE = 'signalbox notification channel';

type Place = Pick<ChannelRow, 'workspace_id' | 'channel_id'>;

/** Encrypts the target with the hub's key, bound to the workspace and the channel. */
export function sealTarget(target: Omit<ChannelTarget, 'kind'>, key: Buffer, place: Place): string {
  const own = deriveKey(key, place.workspace_id, PURPOSE);
  return sealText(JSON.stringify(target), own, place.channel_id);
}

/** Null: the hub's key has changed since, or the row was altered. */
export function openTarget(row: ChannelRow, key: Buffer): ChannelTarget | null {
  const own = deriveKey(key, row.workspace_id, PURPOSE);
  try {
    const target = JSON.parse(openText(row.sealed_target, own, row.channel_id));
    return { kind: row.kind, ...(target as Omit<ChannelTarget, 'kind'>) };
  } catch {
    // The cipher refuses what was sealed with another key.
    return null;
  }
}

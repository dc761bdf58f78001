import { deriveKey, openText, sealText } from '../base/sealing.ts';
import type { ChannelRow } from './store.ts';

/** The kinds that have a URL. */
export type HttpKind = Exclude<ChannelRow['kind'], 'mail'>;

/** Where a channel with a URL leads. */
export interface ChannelTarget {
  kind: HttpKind;
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

/** Null: mail; or the hub's key has changed since, or the row was altered. */
export function openTarget(row: ChannelRow, key: Buffer): ChannelTarget | null {
  const { kind, sealed_target: sealed } = row;
  if (kind === 'mail' || sealed === null) return null;
  const own = deriveKey(key, row.workspace_id, PURPOSE);
  try {
    const target = JSON.parse(openText(sealed, own, row.channel_id));
    return { kind, ...(target as Omit<ChannelTarget, 'kind'>) };
  } catch {
    // The cipher refuses what was sealed with another key.
    return null;
  }
}

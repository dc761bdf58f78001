import { deriveKey, openText, sealText } from '../base/sealing.ts';
import type { ChannelRow } from './store.ts';
import type { PushKeys } from './web-push.ts';

/** The kinds whose URL a person enters. */
export type HttpKind = Exclude<ChannelRow['kind'], 'mail' | 'push' | 'slack_app'>;

interface HttpTarget {
  kind: HttpKind;
  url: string;
  /** The access token of an ntfy topic, or the signing secret of a webhook; of a chat, null. */
  secret: string | null;
}

/** A push subscription of a browser. */
export interface PushTarget {
  kind: 'push';
  url: string;
  keys: PushKeys;
}

/** Where a channel with a URL leads. */
export type ChannelTarget = HttpTarget | PushTarget;

const PURPOSE = 'signalbox notification channel';

type Place = Pick<ChannelRow, 'workspace_id' | 'channel_id'>;

/** The kind is in the row. */
export type SealedTarget = Omit<HttpTarget, 'kind'> | Omit<PushTarget, 'kind'>;

/** Encrypts the target with the hub's key, bound to the workspace and the channel. */
export function sealTarget(target: SealedTarget, key: Buffer, place: Place): string {
  const own = deriveKey(key, place.workspace_id, PURPOSE);
  return sealText(JSON.stringify(target), own, place.channel_id);
}

/** Null: the kind has none; or the hub's key has changed since, or the row was altered. */
export function openTarget(row: ChannelRow, key: Buffer): ChannelTarget | null {
  const { kind, sealed_target: sealed } = row;
  if (kind === 'mail' || kind === 'slack_app' || sealed === null) return null;
  const own = deriveKey(key, row.workspace_id, PURPOSE);
  try {
    const target = JSON.parse(openText(sealed, own, row.channel_id));
    // Sealed by the hub for a row of this kind.
    return { kind, ...target } as ChannelTarget;
  } catch {
    // The cipher refuses what was sealed with another key.
    return null;
  }
}

import type { Tx } from '../db/engine.ts';
import type { Delivery } from './deliver.ts';
import { type ChannelRow, updateChannelState } from './store.ts';

/** Lets the channel show how its last message went. One whose receiver is gone stops. */
export async function recordAtChannel(
  tx: Tx,
  channel: ChannelRow,
  delivery: Delivery,
): Promise<void> {
  const failure = delivery.kind === 'delivered' ? null : delivery.failure;
  const stopped = delivery.kind === 'gone' ? tx.nowMs : null;
  if (channel.failure === failure && stopped === null) return;
  await updateChannelState(tx, channel, { failure, stopped_at: stopped });
}

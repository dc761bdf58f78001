import type { NotificationSender } from '../notifications/sender.ts';
import { createLoop, type Loop } from './loop.ts';

/** A person who is needed hears of it within a second. */
const INTERVAL_MS = 250;

/** Sends what is due in the outbox. */
export function createNotificationLoop(
  sender: NotificationSender,
  clock: Parameters<typeof createLoop>[0]['clock'],
  onError: (error: unknown) => void,
): Loop<{ begun: number; hasMore: boolean }> {
  const loop = createLoop({
    ...{ name: 'notifications', intervalMs: INTERVAL_MS, clock, onError },
    work: () => sender.sendDue(),
    hasMore: ({ hasMore }) => hasMore,
  });
  return {
    ...loop,
    async runOnce() {
      const result = await sender.sendDue();
      await sender.idle();
      return result;
    },
    async stop() {
      await loop.stop();
      await sender.stop();
    },
  };
}

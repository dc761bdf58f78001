/*
 * Web Push in this browser: a subscription for all workspaces, and for each the channel that uses
 * it, which only this browser knows to be its own.
 */

const WORKER_URL = '/service-worker.js';
const CHANNEL_PREFIX = 'signalbox.push.';

/** As the hub stores it. */
export interface Subscription {
  url: string;
  keys: { p256dh: string; auth: string };
}

/** Why this browser cannot be told anything, in sentences that say what to do; null: it can. */
function findPushFault(): string | null {
  if (!window.isSecureContext) {
    return 'Browsers allow notifications only over https, or at localhost. Ask the operator of this hub for an https address.';
  }
  const isApple = /iPhone|iPad/.test(navigator.userAgent) || navigator.maxTouchPoints > 1;
  if ('standalone' in navigator && navigator.standalone === false && isApple) {
    return 'On an iPhone or iPad, first add Signalbox to the home screen: Share, then “Add to Home Screen”. Open it from there and press this button again.';
  }
  if (!('serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window)) {
    return 'This browser cannot show messages while no page is open, and a private window cannot either. Use another browser, or add ntfy or mail.';
  }
  if (Notification.permission === 'denied') {
    return 'This browser blocks notifications of this address. Allow them in its settings for this site, then press this button again.';
  }
  return null;
}

/**
 * Asks for the permission and subscribes. Call it from a press of a button.
 *
 * @param pushKey the public key of the hub.
 * @returns a sentence where that is not possible.
 */
export async function subscribe(pushKey: string): Promise<Subscription | { fault: string }> {
  const fault = findPushFault();
  if (fault !== null) return { fault };
  if ((await Notification.requestPermission()) !== 'granted') {
    return { fault: findPushFault() ?? 'Notifications were not allowed. Press the button again.' };
  }
  try {
    const { pushManager } = await readyWorker();
    const { endpoint, keys } = (await subscribeWith(pushManager, pushKey)).toJSON();
    const { p256dh, auth } = keys ?? {};
    if (endpoint && p256dh && auth) return { url: endpoint, keys: { p256dh, auth } };
    return { fault: 'This browser does not support encrypted messages, so the hub sends it none.' };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { fault: `The browser did not subscribe at its push service: ${reason}` };
  }
}

/** Starts the worker that shows messages, and an app's page while the hub is out of reach. */
export async function readyWorker(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register(WORKER_URL);
  return await navigator.serviceWorker.ready;
}

async function subscribeWith(manager: PushManager, pushKey: string): Promise<PushSubscription> {
  const options = { userVisibleOnly: true, applicationServerKey: pushKey };
  try {
    return await manager.subscribe(options);
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'InvalidStateError')) throw error;
    // The key of the hub has changed since this browser subscribed.
    await (await manager.getSubscription())?.unsubscribe();
    return await manager.subscribe(options);
  }
}

/** The channel of this browser in a workspace; null: none, or it may not notify any more. */
export function readOwnChannel(workspaceId: string): string | null {
  if (!('Notification' in window) || Notification.permission !== 'granted') return null;
  try {
    return localStorage.getItem(CHANNEL_PREFIX + workspaceId);
  } catch {
    // Storage is disabled.
    return null;
  }
}

export function storeOwnChannel(workspaceId: string, channelId: string): void {
  try {
    localStorage.setItem(CHANNEL_PREFIX + workspaceId, channelId);
  } catch {
    // Storage is disabled: the button stays, and pressed again it saves the same channel.
  }
}

/**
 * Ends the subscription of this browser, whose person signs out: the device may be another's next.
 * The push service tells the hub.
 */
export async function unsubscribe(): Promise<void> {
  if (!('serviceWorker' in navigator)) return;
  const registration = await navigator.serviceWorker.getRegistration(WORKER_URL);
  await (await registration?.pushManager?.getSubscription())?.unsubscribe();
}

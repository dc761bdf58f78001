import {
  createCipheriv,
  createECDH,
  createPrivateKey,
  type ECDH,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { deriveKey } from '../base/sealing.ts';
import type { Message } from './content.ts';

/** The keys of a subscription, in base64url, as `PushSubscription.toJSON` gives them. */
export interface PushKeys {
  p256dh: string;
  auth: string;
}

/** The keys by which push services know this hub. */
export interface VapidKeys {
  privateKey: KeyObject;
  /** Uncompressed point, in base64url. */
  publicKey: string;
}

const CURVE = 'prime256v1';
const POINT_BYTES = 65;
const AUTH_BYTES = 16;
const SALT_BYTES = 16;
/** RFC 8291, 4: the message is one record, which push services need not take when it is longer. */
const RECORD_BYTES = 4_096;
/** The delimiter of the last record (RFC 8188, 2). */
const LAST_RECORD = Buffer.of(2);
/** A question that is a day old is seen at the console, or not at all. */
const TTL_S = 24 * 60 * 60;
/** RFC 8292, 2: at most 24 hours; half of them allow for wrong clocks. */
const TOKEN_S = 12 * 60 * 60;
const VAPID_PURPOSE = 'signalbox web push';

/**
 * Derives the key pair from the hub's key, so that all hubs have the same and nothing is stored.
 * Of 2^32 derived numbers, one is no private key.
 */
export function vapidKeysOf(secretKey: Buffer): VapidKeys {
  for (let turn = 0; ; turn++) {
    const pair = createECDH(CURVE);
    try {
      pair.setPrivateKey(deriveKey(secretKey, String(turn), VAPID_PURPOSE));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_CRYPTO_INVALID_KEYTYPE') throw error;
      continue;
    }
    const point = pair.getPublicKey();
    const jwk = {
      kty: 'EC',
      crv: 'P-256',
      d: pair.getPrivateKey('base64url'),
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    };
    return {
      privateKey: createPrivateKey({ format: 'jwk', key: jwk }),
      publicKey: point.toString('base64url'),
    };
  }
}

/** Whether the keys of a subscription can be used: a point of the curve, and a secret. */
export function arePushKeys({ p256dh, auth }: PushKeys): boolean {
  const point = Buffer.from(p256dh, 'base64url');
  if (Buffer.from(auth, 'base64url').length !== AUTH_BYTES || point.length !== POINT_BYTES) {
    return false;
  }
  const pair = createECDH(CURVE);
  pair.generateKeys();
  try {
    pair.computeSecret(point);
    return true;
  } catch {
    // Not on the curve.
    return false;
  }
}

/**
 * Encrypts a text for one subscription, as aes128gcm (RFC 8291).
 *
 * @param own the salt and the key pair of this message; given by tests only.
 */
export function encryptPush(
  text: string,
  { p256dh, auth }: PushKeys,
  own: { salt: Buffer; pair: ECDH } = makeOwn(),
): Buffer {
  const { salt, pair } = own;
  const receiver = Buffer.from(p256dh, 'base64url');
  const sender = pair.getPublicKey();
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), receiver, sender]);
  const shared = derive(pair.computeSecret(receiver), Buffer.from(auth, 'base64url'), info, 32);
  const key = derive(shared, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
  const nonce = derive(shared, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
  const sizes = Buffer.alloc(5);
  sizes.writeUInt32BE(RECORD_BYTES);
  sizes.writeUInt8(sender.length, 4);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  const sealed = [cipher.update(text, 'utf8'), cipher.update(LAST_RECORD), cipher.final()];
  return Buffer.concat([salt, sizes, sender, ...sealed, cipher.getAuthTag()]);
}

function makeOwn(): { salt: Buffer; pair: ECDH } {
  const pair = createECDH(CURVE);
  pair.generateKeys();
  return { salt: randomBytes(SALT_BYTES), pair };
}

function derive(secret: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, bytes));
}

/** The headers of a message: the sender (RFC 8292), how long it is kept, and how urgent it is. */
export function pushHeaders(
  url: URL,
  { privateKey, publicKey }: VapidKeys,
  { id, event, url: page, replaces = false }: Message,
  nowMs: number,
): Record<string, string> {
  const contact = page.startsWith('https:') ? new URL(page).origin : 'mailto:signalbox@localhost';
  const claims = { aud: url.origin, exp: Math.floor(nowMs / 1_000) + TOKEN_S, sub: contact };
  const parts = [{ typ: 'JWT', alg: 'ES256' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const signed = parts.join('.');
  const signature = sign('sha256', Buffer.from(signed), {
    key: privateKey,
    dsaEncoding: 'ieee-p1363',
  });
  return {
    authorization: `vapid t=${signed}.${signature.toString('base64url')}, k=${publicKey}`,
    'content-encoding': 'aes128gcm',
    'content-type': 'application/octet-stream',
    ttl: String(TTL_S),
    // A message that was not delivered yet is replaced by a later one (RFC 8030, 5.4).
    topic: id,
    urgency: event === 'job_ended' || replaces ? 'normal' : 'high',
  };
}

/**
 * The message for a browser, in the form that some browsers understand without the console's worker
 * (Push API, "Declarative push message"; 8030 marks it). A message that comes twice replaces itself
 * by its tag.
 *
 * @param openCount the open questions of the workspace, for the badge of the app.
 */
export function pushText(message: Message, openCount: number): string {
  const { id: tag, title, text: body, url: navigate, answer, replaces = false } = message;
  const actions = [
    { action: 'answer', title: `Choose ${answer}`, navigate: `${navigate}#answer` },
    { action: 'open', title: 'Open', navigate },
  ];
  return JSON.stringify({
    web_push: 8030,
    notification: {
      title,
      body,
      navigate,
      tag,
      lang: 'en',
      ...(answer !== null && { actions }),
      ...(replaces && { silent: true }),
    },
    app_badge: openCount,
  });
}

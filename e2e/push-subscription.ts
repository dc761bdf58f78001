import { createDecipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** RFC 8188, 2.1: salt, size of the record, and the length of the key of the sender. */
const SALT_BYTES = 16;
const HEAD_BYTES = 21;
const POINT_BYTES = 65;
const TAG_BYTES = 16;

/**
 * A subscription at a push service on this machine. The test holds its keys and reads the messages,
 * to hand them to a browser that cannot subscribe here.
 */
export async function startPushSubscription() {
  const pair = createECDH('prime256v1');
  const auth = randomBytes(16);
  const keys = { p256dh: pair.generateKeys('base64url'), auth: auth.toString('base64url') };
  const messages: { text: string; atMs: number }[] = [];
  const heard = new EventEmitter();
  const server = createServer(async (request, response) => {
    const sealed = await buffer(request);
    messages.push({ text: decrypt(sealed, pair, auth), atMs: Date.now() });
    response.writeHead(201).end();
    heard.emit('message');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    server,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/push/1`,
    keys,
    /** The message of this number, from 1, which may come yet. */
    async next(number: number) {
      for (;;) {
        const message = messages[number - 1];
        if (message !== undefined) return message;
        await once(heard, 'message');
      }
    },
  };
}

/** Decrypts a message as browsers do (RFC 8291, 3.4). */
function decrypt(sealed: Buffer, pair: ECDH, auth: Buffer): string {
  const salt = sealed.subarray(0, SALT_BYTES);
  const sender = sealed.subarray(HEAD_BYTES, HEAD_BYTES + POINT_BYTES);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), pair.getPublicKey(), sender]);
  const shared = derive(pair.computeSecret(sender), auth, info, 32);
  const key = derive(shared, salt, 'Content-Encoding: aes128gcm\0', 16);
  const nonce = derive(shared, salt, 'Content-Encoding: nonce\0', 12);
  const decipher = createDecipheriv('aes-128-gcm', key, nonce);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const record = sealed.subarray(HEAD_BYTES + POINT_BYTES, -TAG_BYTES);
  const padded = Buffer.concat([decipher.update(record), decipher.final()]);
  // The last byte marks the last record; the hub adds no other padding.
  return padded.subarray(0, -1).toString('utf8');
}

function derive(secret: Buffer, salt: Buffer, info: Buffer | string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, bytes));
}

import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** RFC 6455, 1.3. */
const WEBSOCKET_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

interface Subscription {
  /** The name of the browser at the service. */
  uaid: string;
  /** The public key of the hub, which the browser gave. */
  key: string;
}

/** A message for a browser that is not connected. */
interface Kept {
  uaid: string;
  channelID: string;
  /** A later message of the same topic replaces it (RFC 8030, 5.4); null: none does. */
  topic: string | null;
  message: object;
}

/** A message of Firefox to its push service; these few suffice. */
interface BrowserMessage {
  messageType?: 'hello' | 'register' | 'unregister' | 'ack';
  uaid?: string;
  channelID?: string;
  key?: string;
}

/**
 * A push service for Firefox on this machine: browsers connect by WebSocket, and hubs post to the
 * endpoints that it gives. It takes a message only with the hub's signature (RFC 8292), and keeps
 * it while the browser is not connected.
 */
export async function startPushService(t: { after(act: () => void): void }) {
  const subscriptions = new Map<string, Subscription>();
  /** The connections of browsers, by their names. */
  const browsers = new Map<string, Duplex>();
  let kept: Kept[] = [];
  const posts: { status: number; bytes: number; atMs: number }[] = [];
  const posted = new EventEmitter();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const status = take(request, body);
    posts.push({ status, bytes: body.length, atMs: performance.now() });
    response.writeHead(status).end();
    posted.emit('post');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sockets = new Set<Duplex>();
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  });

  function take({ headers, url: path = '' }: IncomingMessage, body: Buffer): number {
    const channelID = path.slice(1);
    const subscription = subscriptions.get(channelID);
    if (subscription === undefined) return 410;
    if (!isSigned(headers.authorization ?? '', subscription.key, url)) return 403;
    const { 'content-encoding': encoding } = headers;
    const data = body.toString('base64url');
    const version = randomUUID();
    const { uaid } = subscription;
    const message = {
      ...{ messageType: 'notification', channelID, version, data, headers: { encoding } },
    };
    const browser = browsers.get(uaid);
    if (browser !== undefined) say(browser, message);
    else {
      const topic = headers.topic?.toString() ?? null;
      const isReplaced = (one: Kept) => one.channelID === channelID && one.topic === topic;
      if (topic !== null) kept = kept.filter((one) => !isReplaced(one));
      kept.push({ uaid, channelID, topic, message });
    }
    return 201;
  }

  /** A browser that was here before has its name, and gets what was kept for it. */
  function greet(browser: Duplex, uaid: string): void {
    browsers.set(uaid, browser);
    browser.once('close', () => {
      if (browsers.get(uaid) === browser) browsers.delete(uaid);
    });
    say(browser, { messageType: 'hello', status: 200, uaid, use_webpush: true, broadcasts: {} });
    for (const { message } of kept.filter((one) => one.uaid === uaid)) say(browser, message);
    kept = kept.filter((one) => one.uaid !== uaid);
  }

  function hear(browser: Duplex, message: BrowserMessage): void {
    const { messageType, channelID = '', key = '' } = message;
    if (messageType === 'hello') {
      greet(browser, message.uaid || randomUUID().replaceAll('-', ''));
    } else if (messageType === 'register') {
      const [uaid = ''] = [...browsers].find(([, one]) => one === browser) ?? [];
      subscriptions.set(channelID, { uaid, key });
      say(browser, { messageType, channelID, status: 200, pushEndpoint: `${url}/${channelID}` });
    } else if (messageType === 'unregister') {
      subscriptions.delete(channelID);
      say(browser, { messageType, channelID, status: 200 });
    }
  }

  server.on('upgrade', ({ headers }: IncomingMessage, socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).once('end', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    const accepted = createHash('sha1')
      .update(`${headers['sec-websocket-key']}${WEBSOCKET_GUID}`)
      .digest('base64');
    const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
    const protocol = headers['sec-websocket-protocol'];
    lines.push(`Sec-WebSocket-Accept: ${accepted}`);
    if (protocol !== undefined) lines.push(`Sec-WebSocket-Protocol: ${protocol}`);
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    let waiting = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      waiting = Buffer.concat([waiting, chunk]);
      for (let frame = readFrame(waiting); frame !== null; frame = readFrame(waiting)) {
        waiting = waiting.subarray(frame.bytes);
        if (frame.opcode === 1) hear(socket, JSON.parse(frame.payload.toString('utf8')));
        if (frame.opcode === 8) socket.end();
      }
    });
  });
  return {
    ...{ url, webSocketUrl: url.replace('http', 'ws'), posts, subscriptions },
    /** The messages that wait for browsers that are not connected. */
    kept: () => kept.length,
    /** How many browsers are connected. */
    connected: () => browsers.size,
    async untilPosted(count: number) {
      while (posts.length < count) await once(posted, 'post');
    },
  };
}

/** Whether the hub has signed for this service with the key that the browser subscribed with. */
function isSigned(header: string, key: string, audience: string): boolean {
  const [, signed = '', claims = '', signature = '', given = ''] =
    /^vapid t=([\w-]+\.([\w-]+))\.([\w-]+), k=([\w-]+)$/.exec(header) ?? [];
  const point = Buffer.from(key, 'base64url');
  if (given === '' || given !== point.toString('base64url')) return false;
  const x = point.subarray(1, 33).toString('base64url');
  const y = point.subarray(33).toString('base64url');
  const publicKey = createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y } });
  const by = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
  const { aud } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { aud: string };
  return (
    aud === audience &&
    verify('sha256', Buffer.from(signed), by, Buffer.from(signature, 'base64url'))
  );
}

/** Reads one frame of a client, whole and masked (RFC 6455, 5.2); null: not all is there. */
function readFrame(bytes: Buffer): { opcode: number; payload: Buffer; bytes: number } | null {
  if (bytes.length < 6) return null;
  const length = bytes.readUInt8(1) & 127;
  const isLong = length === 126;
  const head = isLong ? 8 : 6;
  if (bytes.length < head) return null;
  const size = isLong ? bytes.readUInt16BE(2) : length;
  if (bytes.length < head + size) return null;
  const mask = bytes.subarray(head - 4, head);
  const payload = Buffer.from(bytes.subarray(head, head + size));
  for (const [at, byte] of payload.entries()) payload[at] = byte ^ (mask[at % 4] ?? 0);
  return { opcode: bytes.readUInt8(0) & 15, payload, bytes: head + size };
}

function say(browser: Duplex, message: object): void {
  const payload = Buffer.from(JSON.stringify(message));
  const head = payload.length < 126 ? Buffer.of(0x81, payload.length) : Buffer.alloc(4);
  if (payload.length >= 126) {
    head.writeUInt16BE(0x817e);
    head.writeUInt16BE(payload.length, 2);
  }
  browser.write(Buffer.concat([head, payload]));
}

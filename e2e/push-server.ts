import { createPublicKey, randomUUID, verify } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

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
  const browsers = new Map<string, WebSocket>();
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
  const sockets = new WebSocketServer({ server });
  t.after(() => {
    for (const browser of sockets.clients) browser.terminate();
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
      messageType: 'notification',
      channelID,
      version,
      data,
      headers: { encoding },
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
  function greet(browser: WebSocket, uaid: string): void {
    browsers.set(uaid, browser);
    browser.once('close', () => {
      if (browsers.get(uaid) === browser) browsers.delete(uaid);
    });
    say(browser, { messageType: 'hello', status: 200, uaid, use_webpush: true, broadcasts: {} });
    for (const { message } of kept.filter((one) => one.uaid === uaid)) say(browser, message);
    kept = kept.filter((one) => one.uaid !== uaid);
  }

  function hear(browser: WebSocket, message: BrowserMessage): void {
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

  sockets.on('connection', (browser) => {
    browser.on('error', () => browser.terminate());
    // `ws` gives a Buffer unless it is told otherwise.
    browser.on('message', (data) => hear(browser, JSON.parse((data as Buffer).toString('utf8'))));
  });
  return {
    url,
    webSocketUrl: url.replace('http', 'ws'),
    posts,
    subscriptions,
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

function say(browser: WebSocket, message: object): void {
  browser.send(JSON.stringify(message));
}

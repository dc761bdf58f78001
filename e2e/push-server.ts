import { createPublicKey, randomUUID, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

interface Subscription {
  browser: WebSocket;
  /** The public key of the hub, which the browser gave. */
  key: string;
}

/** A message of Firefox to its push service; these few suffice. */
interface BrowserMessage {
  messageType?: 'hello' | 'register' | 'unregister' | 'ack';
  channelID?: string;
  key?: string;
}

/**
 * A push service for Firefox on this machine: browsers connect by WebSocket, and hubs post to the
 * endpoints that it gives. It takes a message only with the hub's signature (RFC 8292).
 */
export async function startPushService(t: { after(act: () => void): void }) {
  const subscriptions = new Map<string, Subscription>();
  const posts: { status: number; bytes: number }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const status = take(request, body);
    posts.push({ status, bytes: body.length });
    response.writeHead(status).end();
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
    say(subscription.browser, {
      ...{ messageType: 'notification', channelID, version, data, headers: { encoding } },
    });
    return 201;
  }

  function hear(browser: WebSocket, message: BrowserMessage): void {
    const { messageType, channelID = '', key = '' } = message;
    if (messageType === 'hello') {
      const more = { uaid: randomUUID().replaceAll('-', ''), use_webpush: true, broadcasts: {} };
      say(browser, { messageType, status: 200, ...more });
    } else if (messageType === 'register') {
      subscriptions.set(channelID, { browser, key });
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
  return { url, webSocketUrl: url.replace('http', 'ws'), posts, subscriptions };
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

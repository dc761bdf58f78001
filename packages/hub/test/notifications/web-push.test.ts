import assert from 'node:assert/strict';
import {
  createDecipheriv,
  createECDH,
  createPublicKey,
  type ECDH,
  hkdfSync,
  randomBytes,
  verify,
} from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { consoleEndpoints, consolePathOf, endpoints, type RequestOf } from '@signalbox/contract';
import { encryptPush, vapidKeysOf } from '../../src/notifications/web-push.ts';
import { signInFirstOwner } from '../support/console-person.ts';
import { startDecisionWorld } from '../support/decision-world.ts';
import { startReceiver } from '../support/message-receiver.ts';

const { notificationChannels, notifications } = consoleEndpoints;
const CURVE = 'prime256v1';

/* RFC 8291, appendix A. */
const example = {
  text: 'When I grow up, I want to be a watermelon',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  salt: 'DGv6ra1nlYgDCS1FRnbzlw',
  senderPrivate: 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw',
  receiverPublic:
    'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  sealed:
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS' +
    '6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qu' +
    'lcy4a-fN',
};
/* RFC 8292, 2.4. */
const exampleToken =
  'vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJl' +
  'eHAiOjE0NTM1MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HL' +
  'GkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA, k=BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61' +
  'm164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs';

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}

/** The claims of an Authorization header, by the key in it. */
function readToken(header: string): { claims: Record<string, unknown>; publicKey: string } {
  const [, signed = '', claims = '', signature = '', publicKey = ''] =
    /^vapid t=([\w-]+\.([\w-]+))\.([\w-]+), k=([\w-]+)$/.exec(header) ?? [];
  const point = bytesOf(publicKey);
  const x = point.subarray(1, 33).toString('base64url');
  const y = point.subarray(33).toString('base64url');
  const key = createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y } });
  const how = { key, dsaEncoding: 'ieee-p1363' } as const;
  assert.ok(verify('sha256', Buffer.from(signed), how, bytesOf(signature)), header);
  return { claims: JSON.parse(bytesOf(claims).toString()), publicKey };
}

/** A browser that has subscribed. */
class Subscriber {
  readonly #pair: ECDH = createECDH(CURVE);
  readonly #auth = randomBytes(16);
  readonly keys = {
    p256dh: this.#pair.generateKeys('base64url'),
    auth: this.#auth.toString('base64url'),
  };

  /** Decrypts a message as RFC 8291 says. */
  open(body: Buffer): Record<string, unknown> {
    const [salt, sender] = [body.subarray(0, 16), body.subarray(21, 86)];
    const derive = (secret: Buffer, by: Buffer, info: Buffer | string, bytes: number) =>
      Buffer.from(hkdfSync('sha256', secret, by, info, bytes));
    const info = Buffer.concat([
      ...[Buffer.from('WebPush: info\0'), this.#pair.getPublicKey(), sender],
    ]);
    const shared = derive(this.#pair.computeSecret(sender), this.#auth, info, 32);
    const key = derive(shared, salt, 'Content-Encoding: aes128gcm\0', 16);
    const nonce = derive(shared, salt, 'Content-Encoding: nonce\0', 12);
    const decipher = createDecipheriv('aes-128-gcm', key, nonce);
    decipher.setAuthTag(body.subarray(-16));
    const padded = Buffer.concat([decipher.update(body.subarray(86, -16)), decipher.final()]);
    assert.equal(padded.at(-1), 2);
    return JSON.parse(padded.subarray(0, -1).toString('utf8'));
  }
}

/** A hub, a browser of the person that has subscribed, and its push service. */
async function startPush(t: TestContext, allowPrivateHosts: 'all' | string[] = 'all') {
  const service = await startReceiver(t);
  const h = await startDecisionWorld(t, { config: { allowPrivateHosts } });
  const person = await signInFirstOwner(h);
  const browser = new Subscriber();
  const { workspaceId } = h;
  const url = `${service.url}/push/4711`;
  const put = {
    workspaceId,
    kind: 'push' as const,
    name: 'Firefox on Android',
    url,
    keys: browser.keys,
    events: ['decision' as const],
    showsText: true,
  };
  const { call } = person;
  const add = (draft: Partial<RequestOf<typeof notificationChannels.put>> = {}) =>
    call(notificationChannels.put, { ...put, ...draft });
  return {
    ...h,
    service,
    person,
    browser,
    call,
    add,
    put,
    list: () => call(notificationChannels.list, { workspaceId }),
    told: async (uncertaintyId: string) =>
      (await call(notifications.list, { workspaceId, uncertaintyId })).notifications,
    async send() {
      await h.hub.loops.notifications.runOnce();
    },
  };
}

const port = {
  kind: 'choice' as const,
  prompt: 'Which port?',
  recommendedValue: '9443',
  options: [{ value: '8080' }, { value: '9443', label: 'The secure one' }],
};

test('the example of RFC 8291 is encrypted to the byte', () => {
  const pair = createECDH(CURVE);
  pair.setPrivateKey(bytesOf(example.senderPrivate));
  const keys = { p256dh: example.receiverPublic, auth: example.auth };
  const sealed = encryptPush(example.text, keys, { salt: bytesOf(example.salt), pair });
  assert.equal(sealed.toString('base64url'), example.sealed);
});

test('the example of RFC 8292 passes the check that the messages pass', () => {
  const { claims } = readToken(exampleToken);
  assert.equal(claims.aud, 'https://push.example.net');
});

test('all hubs with the same key have the same key pair', () => {
  const key = randomBytes(32);
  const one = vapidKeysOf(key).publicKey;
  assert.equal(vapidKeysOf(Buffer.from(key)).publicKey, one);
  assert.notEqual(vapidKeysOf(randomBytes(32)).publicKey, one);
});

test('a question reaches a browser encrypted, signed, and with the recommended answer', async (t) => {
  const h = await startPush(t);
  const { channel } = await h.add();
  assert.equal(channel.host, new URL(h.service.url).host);
  const { uncertaintyId } = await h.ask(port);
  await h.send();
  const [message, ...others] = h.service.messages;
  assert.ok(message);
  assert.deepEqual(others, []);
  assert.equal(message.path, '/push/4711');
  const { headers } = message;
  assert.equal(headers['content-encoding'], 'aes128gcm');
  assert.deepEqual([headers.ttl, headers.urgency], ['86400', 'high']);
  const { claims, publicKey } = readToken(headers.authorization ?? '');
  assert.equal(publicKey, (await h.list()).pushKey);
  assert.equal(claims.aud, h.service.url);
  const expiresInS = Number(claims.exp) - h.clock.nowMs() / 1_000;
  assert.ok(expiresInS > 0 && expiresInS <= 24 * 60 * 60, String(expiresInS));
  const navigate = `${h.hub.baseUrl}/w/${h.home.slug}/inbox/${uncertaintyId}`;
  const { notification, ...rest } = h.browser.open(message.bytes);
  assert.deepEqual(rest, { web_push: 8030, app_badge: 1 });
  const { tag, ...shown } = notification as Record<string, unknown>;
  assert.match(String(tag), /^ntf_/);
  assert.deepEqual(shown, {
    title: 'A job asks you',
    body: '“Which port?”',
    navigate,
    lang: 'en',
    actions: [
      { action: 'answer', title: 'Choose “The secure one”', navigate: `${navigate}#answer` },
      { action: 'open', title: 'Open', navigate },
    ],
  });
  assert.equal((await h.told(uncertaintyId))[0]?.state, 'sent');
});

/** The notification of a message, and the topic under which a push service keeps it. */
function readPush(h: Awaited<ReturnType<typeof startPush>>, at: number) {
  const message = h.service.messages[at];
  assert.ok(message);
  const { notification } = h.browser.open(message.bytes);
  const { title, body, tag, silent } = notification as Record<string, unknown>;
  return { title, body, tag, silent, topic: message.headers.topic };
}

test('the answer of another takes the place of the question, and makes no sound', async (t) => {
  const h = await startPush(t);
  await h.add();
  const { uncertaintyId } = await h.ask(port);
  await h.send();
  await h.answer(uncertaintyId, { value: '9443' });
  await h.send();
  await h.send();
  assert.equal(h.service.messages.length, 2);
  const [asked, ended] = [readPush(h, 0), readPush(h, 1)];
  assert.deepEqual([ended.tag, ended.topic], [asked.tag, asked.topic]);
  assert.equal(asked.topic, asked.tag, 'a phone that was off gets the last one only');
  assert.match(String(ended.title), /answered “The secure one”\.$/);
  assert.deepEqual([ended.body, ended.silent, asked.silent], ['“Which port?”', true, undefined]);
});

test('without texts, a phone shows who answered and not what', async (t) => {
  const h = await startPush(t);
  await h.add({ showsText: false });
  const { uncertaintyId } = await h.ask(port);
  await h.send();
  await h.answer(uncertaintyId, { value: '9443' });
  await h.send();
  const { title, body } = readPush(h, 1);
  assert.match(String(title), / answered it\.$/);
  assert.equal(body, 'Open it to see the question.');
});

test('the person who answered gets no push about it', async (t) => {
  const h = await startPush(t);
  await h.add();
  const { uncertaintyId } = await h.ask(port);
  await h.send();
  const answer = { mode: 'answered' as const, value: '9443', confidence: 1 };
  const { workspaceId } = h;
  await h.call(endpoints.uncertainties.addResolution, { workspaceId, uncertaintyId, ...answer });
  await h.send();
  assert.equal(h.service.messages.length, 1);
});

test('a locked screen shows neither question nor answer unless the person wants it', async (t) => {
  const h = await startPush(t);
  await h.add({ showsText: false });
  await h.ask(port);
  await h.send();
  const text = JSON.stringify(h.browser.open(h.service.messages[0]?.bytes ?? Buffer.of()));
  assert.match(text, /Open it to see the question\./);
  assert.doesNotMatch(text, /port|secure|9443/);
});

test('the longest question and answer fit into one message', async (t) => {
  const h = await startPush(t);
  await h.add();
  await h.ask({ ...port, prompt: '🚂'.repeat(2_000), recommendedValue: '🚃'.repeat(500) });
  await h.send();
  const [message] = h.service.messages;
  assert.ok(message && message.bytes.length <= 4_096, String(message?.bytes.length));
  assert.equal(h.browser.open(message.bytes).web_push, 8030);
});

test('a browser has one channel, also when it subscribes again', async (t) => {
  const h = await startPush(t);
  const first = await h.add();
  h.service.answerWith({ status: 410 });
  const { uncertaintyId } = await h.ask(port);
  await h.send();
  const [stopped] = (await h.list()).channels;
  assert.equal(stopped?.failure, 'The receiver answered 410.');
  assert.ok(stopped.stoppedAt);
  assert.equal((await h.told(uncertaintyId))[0]?.state, 'failed');
  const again = await h.add();
  assert.equal(again.channel.channelId, first.channel.channelId);
  assert.equal(again.channel.stoppedAt, null);
  await h.add({ url: `${h.service.url}/push/4712` });
  assert.equal((await h.list()).channels.length, 2);
});

test('a subscription stays when the settings of its channel change', async (t) => {
  const h = await startPush(t);
  const { channel } = await h.add();
  const { url: _url, keys: _keys, ...settings } = h.put;
  const { channelId } = channel;
  await h.call(notificationChannels.put, { ...settings, channelId, name: 'Phone' });
  await h.ask(port);
  await h.send();
  assert.equal(h.service.messages[0]?.path, '/push/4711');
});

test('a push service that is busy is asked again when it wants', async (t) => {
  const h = await startPush(t);
  await h.add();
  h.service.answerWith({ status: 429, headers: { 'retry-after': '60' } }, { status: 413 });
  const { uncertaintyId } = await h.ask(port);
  await h.send();
  h.clock.advance(59_000);
  await h.send();
  assert.equal(h.service.messages.length, 1);
  h.clock.advance(1_000);
  await h.send();
  const [told] = await h.told(uncertaintyId);
  assert.deepEqual([told?.state, told?.failure], ['failed', 'The receiver answered 413.']);
});

test('a push service in a private network is called only if the operator allows it', async (t) => {
  const h = await startPush(t, []);
  const { channel } = await h.add();
  const { channelId } = channel;
  const tried = await h.call(notificationChannels.test, { workspaceId: h.workspaceId, channelId });
  assert.match(tried.failure ?? '', /SVC_ALLOW_PRIVATE_HOSTS/);
  assert.deepEqual(h.service.messages, []);
});

test('invalid keys are refused, and nothing is stored', async (t) => {
  const h = await startPush(t);
  const { keys } = h.put;
  const offCurve = bytesOf(keys.p256dh).fill(1, 1).toString('base64url');
  const drafts = [
    { keys: { ...keys, p256dh: offCurve } },
    { keys: { ...keys, p256dh: keys.p256dh.slice(1) } },
    { keys: { ...keys, auth: 'c2hvcnQ' } },
    { keys: undefined },
    { url: undefined },
    { secret: 'x' },
    { kind: 'ntfy' },
  ];
  for (const draft of drafts) {
    const answer = await h.person.send(consolePathOf(notificationChannels.put), {
      ...h.put,
      ...draft,
    });
    assert.equal(answer.body.error, 'INVALID_REQUEST', JSON.stringify(draft));
  }
  assert.deepEqual((await h.list()).channels, []);
});

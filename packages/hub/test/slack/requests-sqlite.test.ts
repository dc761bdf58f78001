import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signChatEvent } from '../../src/integrations/proofs.ts';
import { exchange } from '../support/http-exchange.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { startTestHub } from '../support/test-hub.ts';

/* The example of Slack's page "Verifying requests from Slack". */
const secret = '8f742231b10e8888abcd99yyyzzz85a5';
const seconds = 1_531_420_618;
const signature = 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503';
const body = [
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow',
  'channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner',
  'command=%2Fwebhook-collect&text=',
  'response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN',
  'trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
].join('&');

const slack = {
  botToken: 'xoxb-1',
  appToken: null,
  signingSecrets: [secret],
  apiUrl: 'http://127.0.0.1:9/api/',
};

test('requests are taken with the signature of Slack only', async (t) => {
  const clock = createManualClock(seconds * 1_000);
  const { address } = await startTestHub(t, { clock, config: { slack } });
  const post = (more: { path?: string; body?: string; signature?: string; at?: number } = {}) =>
    exchange(address, {
      path: more.path ?? '/slack/commands',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-slack-request-timestamp': String(more.at ?? seconds),
        'x-slack-signature': more.signature ?? signature,
      },
      body: more.body ?? body,
    });
  const published = await post();
  assert.equal(published.status, 200);
  assert.match(String(published.body.text), /^Your account is not connected\./);
  const refused = async (sent: ReturnType<typeof post>) =>
    assert.equal((await sent).body.error, 'INTEGRATION_UNAUTHORIZED');
  await refused(post({ body: body.replace('U2CERLKJA', 'U2CERLKJB') }));
  await refused(post({ path: '/slack/interactions', signature: `v0=${'0'.repeat(64)}` }));
  await refused(post({ at: seconds + 1 }));
  clock.advance(5 * 60_000 + 1_000);
  await refused(post());
  // One that is signed, and no payload of Slack.
  const at = seconds + 301;
  const odd = 'payload=%5B%5D';
  const signed = signChatEvent(secret, String(at), Buffer.from(odd));
  const answered = await post({ path: '/slack/interactions', body: odd, signature: signed, at });
  assert.deepEqual([answered.status, answered.body], [200, {}]);
});

test('a hub without a signing secret has no paths for Slack', async (t) => {
  const { address } = await startTestHub(t, {
    config: { slack: { ...slack, appToken: null, signingSecrets: [] } },
  });
  const { status } = await exchange(address, { path: '/slack/commands', body });
  assert.notEqual(status, 200);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatToken } from '@signalbox/contract';
import {
  applyDataPolicy,
  type DataPolicy,
  EXCERPT_CHARS,
  redactSecrets,
} from '../../src/context/data-policy.ts';

/** Composed at run time, so that no scanner reports this file as a leak. */
const join = (...parts: string[]) => parts.join('');
const letters = (count: number) => 'aB3dE5gH7j'.repeat(Math.ceil(count / 10)).slice(0, count);

const secrets: [what: string, secret: string][] = [
  ['a token of this hub', formatToken('service', new Uint8Array(32).fill(7))],
  ['an AWS access key id', join('AKIA', 'IOSFODNN7EXAMPLE')],
  ['a GitHub token', join('ghp_', letters(36))],
  ['a fine-grained GitHub token', join('github_pat_', letters(60))],
  ['a GitLab token', join('glpat-', letters(20))],
  ['a Slack token', join('xoxb-', '123456789012-', letters(24))],
  ['a Slack webhook', join('https://hooks.slack.com/', 'services/T000/B000/', letters(24))],
  ['an Anthropic key', join('sk-ant-api03-', letters(80))],
  ['an OpenAI key', join('sk-proj-', letters(48))],
  ['a Stripe key', join('sk_live_', letters(24))],
  ['a Google API key', join('AIza', letters(35))],
  ['an npm token', join('npm_', letters(36))],
  ['a Hugging Face token', join('hf_', letters(34))],
  ['a SendGrid key', join('SG.', letters(22), '.', letters(43))],
  ['a JSON web token', join('eyJ', letters(30), '.eyJ', letters(60), '.', letters(43))],
  [
    'a private key',
    join(
      '-----BEGIN RSA ',
      'PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n',
      letters(64),
      '\n-----END RSA ',
      'PRIVATE KEY-----',
    ),
  ],
  ['a private key that is cut off', join('-----BEGIN ', 'PRIVATE KEY-----\n', letters(64))],
];

for (const [what, secret] of secrets) {
  test(`${what} is redacted, and the text around it is kept`, () => {
    const clean = redactSecrets(`before ${secret}`);
    assert.match(clean, /^before /);
    assert.ok(!clean.includes(secret.slice(-12)), clean);
    assert.equal(redactSecrets(clean), clean, 'redacting twice changes nothing');
  });
}

const named: [text: string, clean: string][] = [
  ['postgres://app:hunter2@db/main', 'postgres://app:[redacted]@db/main'],
  ['Authorization: Bearer abcdef0123456789', 'Authorization: Bearer [redacted]'],
  ['AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENG/bPx', 'AWS_SECRET_ACCESS_KEY=[redacted]'],
  ['{"password": "correct horse battery"}', '{"password": "[redacted]"}'],
  ["apiKey: 'abcdef123'", "apiKey: '[redacted]'"],
  ['Password: Tr0ub4dor&3', 'Password: [redacted]&3'],
];
for (const [text, clean] of named) {
  test(`a value is redacted by its name: ${text.slice(0, 16)}…`, () => {
    assert.equal(redactSecrets(text), clean);
  });
}

const harmless = [
  'The password: minimum eight characters.',
  'See https://example.com/a:b?c=d and mailto:ada@example.com.',
  'commit 5ad1092b1f4e6c7d8a9b0c1d2e3f405162738495',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'The key is under the mat; the token ring is a network.',
];
for (const text of harmless) {
  test(`ordinary text is kept: ${text.slice(0, 24)}…`, () =>
    assert.equal(redactSecrets(text), text));
}

test('redaction takes linear time on adversarial texts', () => {
  const size = 256_000;
  const hostile = [
    'a-'.repeat(size / 2),
    'a://'.repeat(size / 4),
    `a://${'b:'.repeat(size / 2)}`,
    '-----BEGIN PRIVATE KEY-----'.repeat(size / 27),
    'eyJ'.repeat(size / 3),
    'sk-'.repeat(size / 3),
    `password=${'"'.repeat(size)}`,
    'secret: '.repeat(size / 8),
    'passwd '.repeat(size / 7),
  ];
  const startMs = performance.now();
  for (const text of hostile) redactSecrets(text);
  // Quadratic time would be minutes, so the limit is far from linear and quadratic.
  assert.ok(performance.now() - startMs < 10_000);
});

const content = { title: 'A title', text: 'x'.repeat(3_000), sourceRef: 'ref', threadRef: null };
const keep = (policy: Partial<DataPolicy>, fields: Partial<typeof content> = {}) =>
  applyDataPolicy(
    { contentStorage: 'full', redactSecrets: true, ...policy },
    { ...content, ...fields },
  );

test('the policy full keeps the whole text, excerpt its beginning, metadata none of it', () => {
  assert.deepEqual(keep({}), { ...content, truncated: false });
  const excerpt = keep({ contentStorage: 'excerpt' });
  assert.equal(excerpt.text.length, EXCERPT_CHARS);
  assert.equal(excerpt.truncated, true);
  assert.deepEqual(keep({ contentStorage: 'metadata' }), { ...content, text: '', truncated: true });
  assert.equal(keep({ contentStorage: 'excerpt' }, { text: 'short' }).truncated, false);
});

test('an excerpt never ends within a surrogate pair', () => {
  const { text } = keep({ contentStorage: 'excerpt' }, { text: `${'x'.repeat(999)}😀😀` });
  assert.equal(text, 'x'.repeat(999));
});

test('a secret on the edge of an excerpt is redacted before the cut', () => {
  const text = `${'x'.repeat(EXCERPT_CHARS - 10)} ${join('AKIA', 'IOSFODNN7EXAMPLE')}`;
  assert.ok(!keep({ contentStorage: 'excerpt' }, { text }).text.includes('AKIA'));
});

test('names are redacted too, and nothing is when the workspace turns redaction off', () => {
  const secret = join('ghp_', letters(36));
  const named = { title: secret, sourceRef: `https://ada:${secret}@example.com` };
  assert.doesNotMatch(JSON.stringify(keep({}, named)), /ghp_a/);
  const kept = keep({ redactSecrets: false }, named);
  assert.equal(kept.title, secret);
  assert.equal(kept.sourceRef, named.sourceRef);
});

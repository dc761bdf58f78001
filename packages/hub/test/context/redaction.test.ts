import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatToken } from '@signalbox/contract';
import { secretPatterns } from '@signalbox/contract/secret-formats';
import { namedPatterns, redactSecrets } from '../../src/context/redaction.ts';

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
  ['a Stripe signing secret', join('whsec_', letters(32))],
  ['a Google OAuth token', join('ya29.', letters(60))],
  ['a Google OAuth client secret', join('GOCSPX-', letters(28))],
  ['an npm token', join('npm_', letters(36))],
  ['a PyPI token', join('pypi-', letters(60))],
  ['a DigitalOcean token', join('dop_v1_', '0123456789abcdef'.repeat(4))],
  ['a Telegram bot token', join('123456789:AA', letters(33))],
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

const samples = [...secrets.map(([, secret]) => secret), ...named.map(([text]) => text)];

test('every pattern has a sample, so the test of its time covers it', () => {
  for (const pattern of [...secretPatterns, ...namedPatterns]) {
    assert.ok(
      samples.some((sample) => sample.search(pattern) !== -1),
      `add a sample for ${pattern}`,
    );
  }
});

const HOSTILE_CHARS = 16_000;
/** Linear time takes under 3 ms. Scanning a few thousand characters at each start takes 100. */
const CPU_MS_MAX = 40;

/** The beginnings of each sample, in several lengths. */
const heads = new Set(
  samples.flatMap((sample) => [3, 5, 9, 16, 40].map((chars) => sample.slice(0, chars))),
);
/** Every printable ASCII character, white space, and a letter beyond ASCII. */
const separators = [
  ...Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)),
  '\n',
  'é',
];

test('redaction takes linear time for every start of a secret after every separator', () => {
  const slow: string[] = [];
  for (const head of heads) {
    for (const separator of ['', ...separators]) {
      const unit = separator + head;
      const text = unit.repeat(HOSTILE_CHARS / unit.length);
      if (!isFast(text)) slow.push(JSON.stringify(unit));
    }
  }
  assert.deepEqual(slow, []);
});

test('redaction takes linear time for long runs after a start, and for starts of all kinds', () => {
  for (const head of heads) {
    for (const run of ['a', '-', '=', ':', '"', ' ', 'a-', 'a.', '"a', 'a:', '/a', '.eyJ']) {
      const text = `${head}${run.repeat(HOSTILE_CHARS / run.length)}`;
      assert.ok(isFast(text), JSON.stringify(`${head}${run}…`));
    }
  }
  assert.ok(isFast([...heads].join('-').repeat(5)));
});

/** Measures this thread's own time, which other processes do not lengthen; the best of three. */
function isFast(text: string): boolean {
  for (let round = 0; round < 3; round++) {
    const start = process.threadCpuUsage();
    redactSecrets(text);
    const { user, system } = process.threadCpuUsage(start);
    if ((user + system) / 1_000 < CPU_MS_MAX) return true;
  }
  return false;
}

test('a JSON web token is redacted after any separator, and at any length', () => {
  const token = join('eyJ', letters(30), '.eyJ', letters(60), '.', letters(43));
  for (const before of ['', ' ', '-', '--', 'x-', '=', '"', 'session-', 'name.', '/', 'eyJ.']) {
    assert.equal(redactSecrets(`${before}${token}!`), `${before}[redacted]!`);
  }
  const long = join('eyJ', letters(9_000), '.eyJ', letters(50_000), '.', letters(5_000));
  assert.equal(redactSecrets(`a ${long} b`), 'a [redacted] b');
  const unsigned = join('eyJ', letters(30), '.eyJ', letters(60), '.');
  assert.equal(redactSecrets(unsigned), '[redacted]');
});

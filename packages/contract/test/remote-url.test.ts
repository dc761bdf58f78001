import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import {
  hashRemoteUrl,
  normalizeRemoteUrl,
  RemoteUrlError,
  remoteUrlVectors,
} from '@signalbox/contract';
import fc from 'fast-check';

const label = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,10}$/);
const host = fc.tuple(label, label).map((labels) => labels.join('.'));
// A first segment of digits is valid in `host:path`, because the scp form has no port.
const path = fc.array(label, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'));
const port = fc.integer({ min: 1, max: 65_535 });
const secret = fc.stringMatching(/^[A-Za-z0-9!$&'()*+,;=._~%@:-]{8,20}$/).map((s) => `K${s}Q`);

test('every vector normalizes as published, or is rejected with a message', () => {
  for (const { url, normalized, note } of remoteUrlVectors) {
    if (normalized !== null) {
      assert.equal(normalizeRemoteUrl(url), normalized, `${note}: ${url}`);
      continue;
    }
    assert.throws(
      () => normalizeRemoteUrl(url),
      (error) => error instanceof RemoteUrlError && error.message.length > 20,
      note,
    );
  }
});

test('the table has enough rows, and no URL twice', () => {
  const urls = new Set(remoteUrlVectors.map((vector) => vector.url));
  assert.equal(urls.size, remoteUrlVectors.length);
  assert.ok(remoteUrlVectors.filter((vector) => vector.normalized !== null).length >= 45);
});

test('vectors have the same hash exactly when they have the same normal form', async () => {
  const accepted = remoteUrlVectors.filter((vector) => vector.normalized !== null);
  const groups = Map.groupBy(accepted, (vector) => vector.normalized);
  const hashes = new Set<string>();
  for (const [normalized, vectors] of groups) {
    const expected = createHash('sha256').update(String(normalized)).digest('hex');
    for (const { url } of vectors) assert.equal(await hashRemoteUrl(url), expected, url);
    hashes.add(expected);
  }
  assert.equal(hashes.size, groups.size);
});

test('the hash is the SHA-256 of the normal form and never changes', async () => {
  assert.equal(
    await hashRemoteUrl('git@github.com:acme/api.git'),
    'e1dcaa3496b93562cbcd84eaed8b8e3e4d60f98854d6d90fa0f7c267d3ca7919',
  );
});

test('an error never repeats the URL, which may contain credentials', () => {
  for (const url of [
    'ada:s3cret@h/x',
    'https://ada:s3cret@',
    'ssh://a:s3cret@h:port/x',
    's3cret',
  ]) {
    assert.throws(
      () => normalizeRemoteUrl(url),
      (error) => error instanceof RemoteUrlError && !error.message.includes('s3cret'),
    );
  }
});

test('a text of ten million slashes is rejected at once', () => {
  assert.throws(() => normalizeRemoteUrl(`https://h/${'/'.repeat(10_000_000)}x`), RemoteUrlError);
});

test('SSH, HTTPS and scp forms of a repository have one normal form', () => {
  fc.assert(
    fc.property(host, path, (h, p) => {
      const https = normalizeRemoteUrl(`https://${h}/${p}.git`);
      assert.equal(normalizeRemoteUrl(`ssh://git@${h}/${p}`), https);
      assert.equal(normalizeRemoteUrl(`git@${h}:${p}.git/`), https);
      assert.equal(https, `${h}/${p}`.toLowerCase());
    }),
  );
});

test('a port is kept exactly when it is not the default of its scheme', () => {
  fc.assert(
    fc.property(host, path, fc.oneof(port, fc.constantFrom(22, 443)), (h, p, number) => {
      const name = (portPart: string) => `${h}${portPart}/${p}`.toLowerCase();
      const expected = (defaultPort: number) => name(number === defaultPort ? '' : `:${number}`);
      assert.equal(normalizeRemoteUrl(`ssh://git@${h}:${number}/${p}`), expected(22));
      assert.equal(normalizeRemoteUrl(`https://${h}:${number}/${p}`), expected(443));
    }),
  );
});

test('a normal form without a port is its own normal form', () => {
  fc.assert(
    fc.property(host, fc.webUrl(), path, (h, webUrl, p) => {
      for (const url of [
        `git@${h}:${p}`,
        `/${p}`,
        `${webUrl}/${p}?q=1`,
        `C:\\${p}`,
        `\\\\${h}\\${p}`,
      ]) {
        const once = normalizeRemoteUrl(url);
        if (!/^[^/]*:\d/.test(once)) assert.equal(normalizeRemoteUrl(once), once, url);
      }
    }),
  );
});

test('any text is rejected or gives a lower-case name without a trailing slash', () => {
  const pieces = fc.constantFrom('git', '@', ':', '/', '\\', '.git', '[', ']', '~', '?', '#', 'É');
  const text = fc.array(fc.oneof(pieces, fc.string({ unit: 'binary' }))).map((all) => all.join(''));
  fc.assert(
    fc.property(text, (url) => {
      let name: string;
      try {
        name = normalizeRemoteUrl(url);
      } catch (error) {
        assert.ok(error instanceof RemoteUrlError);
        return;
      }
      assert.equal(name, name.toLowerCase());
      assert.match(name, /[^/\s]$/);
    }),
    { numRuns: 1_000 },
  );
});

test('credentials never appear in the normal form', () => {
  fc.assert(
    fc.property(host, path, secret, (h, p, password) => {
      for (const url of [`https://ada:${password}@${h}/${p}`, `ssh://${password}@${h}:2222/${p}`]) {
        assert.ok(!normalizeRemoteUrl(url).includes(password.toLowerCase()));
      }
      assert.ok(!normalizeRemoteUrl(`ada:${password}@${h}:${p}`).includes(password.toLowerCase()));
    }),
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  applyPolicyToNames,
  applyPolicyToText,
  type DataPolicy,
  EXCERPT_CHARS,
} from '../../src/context/data-policy.ts';

/** Composed at run time, so that no scanner reports this file as a leak. */
const join = (...parts: string[]) => parts.join('');
const letters = (count: number) => 'aB3dE5gH7j'.repeat(Math.ceil(count / 10)).slice(0, count);

const content = { title: 'A title', text: 'x'.repeat(3_000), sourceRef: 'ref', threadRef: null };
const keep = (change: Partial<DataPolicy>, fields: Partial<typeof content> = {}) => {
  const policy: DataPolicy = { contentStorage: 'full', redactSecrets: true, ...change };
  const { text, ...names } = { ...content, ...fields };
  return { ...applyPolicyToNames(policy, names), ...applyPolicyToText(policy, text) };
};

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

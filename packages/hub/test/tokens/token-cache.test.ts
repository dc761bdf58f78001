import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../../src/db/engine.ts';
import { TokenCache } from '../../src/tokens/cache.ts';
import type { TokenWithPerson } from '../../src/tokens/store-bearers.ts';
import { createManualClock } from '../support/manual-clock.ts';

/** A cache over reads that the test answers by hand, in the order of the requests. */
function createCache() {
  const clock = createManualClock();
  const asked: ((row: TokenWithPerson | undefined) => void)[] = [];
  const firstSql = () => new Promise((resolve) => asked.push(resolve));
  // The cache uses nothing else of a database.
  const database = { reader: { firstSql } } as unknown as Database;
  return { clock, asked, cache: new TokenCache({ database, clock }) };
}

// The cache looks at no field of a row.
const rowNamed = (name: string) => ({ name }) as TokenWithPerson;

test('a lookup in progress at a revocation is neither joined nor cached', async () => {
  const { cache, asked } = createCache();
  const before = cache.find('hash');
  const joined = cache.find('hash');
  assert.equal(asked.length, 1, 'lookups of one token share one query');
  cache.clear();
  const after = cache.find('hash');
  assert.equal(asked.length, 2);
  asked[1]?.(rowNamed('new'));
  asked[0]?.(rowNamed('old'));
  assert.deepEqual(
    (await Promise.all([before, joined, after])).map((token) => token?.row.name),
    ['old', 'old', 'new'],
  );
  assert.equal((await cache.find('hash'))?.row.name, 'new');
  assert.equal(asked.length, 2);
});

test('an unknown token is looked up again, and so is any token when the clock is set back', async () => {
  const { cache, asked, clock } = createCache();
  const unknown = cache.find('hash');
  asked[0]?.(undefined);
  assert.equal(await unknown, undefined);
  const known = cache.find('hash');
  assert.equal(asked.length, 2, 'a token may be minted a moment later');
  asked[1]?.(rowNamed('token'));
  await known;
  await cache.find('hash');
  assert.equal(asked.length, 2);
  clock.advance(-60_000);
  const again = cache.find('hash');
  assert.equal(asked.length, 3);
  asked[2]?.(rowNamed('token'));
  await again;
});

test('the cache is bounded', async () => {
  const { cache, asked } = createCache();
  const find = (hash: string) => {
    const found = cache.find(hash);
    asked.at(-1)?.(rowNamed(hash));
    return found;
  };
  for (let index = 0; index <= 10_000; index++) await find(`hash ${index}`);
  const count = asked.length;
  await find('hash 10000');
  assert.equal(asked.length, count, 'the newest is cached');
  await find('hash 0');
  assert.equal(asked.length, count + 1, 'the oldest was evicted');
});

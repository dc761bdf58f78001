import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressBlockOf } from '../../src/base/address-block.ts';
import { CallSlots } from '../../src/http/call-slots.ts';
import { TokenBuckets } from '../../src/http/token-buckets.ts';

const NOW_MS = 1_000_000;
const ten = (key: string, units = 1) => ({ key, unitsPerSecond: 10, units });

test('a full bucket holds what its rate allows in two seconds, and fills at that rate', () => {
  const buckets = new TokenBuckets();
  for (let count = 0; count < 20; count++) assert.equal(buckets.pay(NOW_MS, [ten('a')]), 0);
  assert.equal(buckets.pay(NOW_MS, [ten('a')]), 100);
  assert.equal(buckets.pay(NOW_MS, [ten('b')]), 0, 'another bucket is full');
  assert.equal(buckets.pay(NOW_MS + 99, [ten('a')]), 1);
  assert.equal(buckets.pay(NOW_MS + 100, [ten('a')]), 0);
  assert.equal(buckets.pay(NOW_MS + 100, [ten('a')]), 100);
});

test('a payment from several buckets takes from all or from none', () => {
  const buckets = new TokenBuckets();
  assert.equal(buckets.pay(NOW_MS, [ten('workspace', 15)]), 0);
  assert.ok(buckets.pay(NOW_MS, [ten('token', 10), ten('workspace', 10)]) > 0);
  assert.equal(buckets.pay(NOW_MS, [ten('token', 20)]), 0, 'the refused request took nothing');
});

test('a payment of more than a bucket needs a full one, and a rate of 0 is no limit', () => {
  const buckets = new TokenBuckets();
  assert.equal(buckets.pay(NOW_MS, [ten('a', 500)]), 0);
  assert.equal(buckets.pay(NOW_MS, [ten('a', 500)]), 2_000);
  const free = { key: 'b', unitsPerSecond: 0, units: 1_000_000 };
  for (let count = 0; count < 9; count++) assert.equal(buckets.pay(NOW_MS, [free]), 0);
});

test('buckets work on when the clock is set back or forward', () => {
  const buckets = new TokenBuckets();
  assert.equal(buckets.pay(NOW_MS, [ten('a', 20)]), 0);
  assert.equal(buckets.pay(NOW_MS - 3_600_000, [ten('a')]), 0);
  assert.equal(buckets.pay(NOW_MS + 3_600_000, [ten('a')]), 0);
});

test('buckets that are full again are forgotten, and no other', () => {
  const buckets = new TokenBuckets();
  for (let number = 0; number < 1_000; number++) buckets.pay(NOW_MS, [ten(`idle ${number}`)]);
  let nowMs = NOW_MS;
  for (; nowMs < NOW_MS + 10_000; nowMs += 500) {
    assert.equal(buckets.pay(nowMs, [ten('busy', 5)]), 0);
  }
  assert.ok(buckets.size <= 2, `${buckets.size} buckets`);
  assert.equal(buckets.pay(nowMs, [ten('busy', 20)]), 0, 'it spent as much as it filled');
  assert.ok(buckets.pay(nowMs + 500, [ten('busy', 20)]) > 0);
});

const blocks: [address: string, block: string][] = [
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
  ['not an address', 'not an address'],
];

for (const [address, block] of blocks) {
  test(`${address} counts as ${block}`, () => assert.equal(addressBlockOf(address), block));
}

test('a caller has some calls under way, the next wait in order, and not too many', async () => {
  const slots = new CallSlots({ busyMax: 2, waitingMax: 3 });
  const enter = (key = 'a') => {
    const slot = slots.enter(key);
    assert.ok(slot !== null);
    return slot;
  };
  const [first, second] = [enter(), enter()];
  assert.deepEqual([first.ready, second.ready], [null, null]);
  const entered: number[] = [];
  const waiting = [0, 1, 2].map((number) => {
    const slot = enter();
    void slot.ready?.then(() => entered.push(number));
    return slot;
  });
  assert.equal(slots.enter('a'), null);
  assert.equal(enter('b').ready, null, 'other callers have slots of their own');
  first.leave();
  first.leave();
  await waiting[0]?.ready;
  assert.deepEqual(entered, [0], 'a call frees its slot once');
  waiting[1]?.leave();
  const last = enter();
  second.leave();
  await waiting[2]?.ready;
  assert.deepEqual(entered, [0, 2], 'a call that left the line has no turn');
  for (const slot of [...waiting, last]) slot.leave();
  assert.equal(enter().ready, null);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isHostEntry,
  isPrivateAddress,
  OutboundHostError,
  resolveOutboundHost,
} from '../../src/base/outbound-hosts.ts';

const privateAddresses = [
  '127.0.0.1',
  '10.1.2.3',
  '172.31.255.255',
  '192.168.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  'fd00::1',
  'fe80::1',
  'fe80::1%eth0',
  'ff02::1',
  'not an address',
];
const publicAddresses = ['8.8.8.8', '172.32.0.1', '193.0.0.1', '2606:4700:4700::1111'];

for (const address of privateAddresses) {
  test(`${address} is private`, () => assert.equal(isPrivateAddress(address), true));
}
for (const address of publicAddresses) {
  test(`${address} is public`, () => assert.equal(isPrivateAddress(address), false));
}

test('a private host is refused unless the operator allows it', async () => {
  await assert.rejects(resolveOutboundHost('127.0.0.1', []), OutboundHostError);
  await assert.rejects(resolveOutboundHost('127.0.0.1', ['10.0.0.0/8']), OutboundHostError);
  await assert.rejects(resolveOutboundHost('localhost', ['127.0.0.2']), OutboundHostError);
  const expected = { address: '127.0.0.1', family: 4, isPrivate: true };
  for (const allowed of ['all', ['127.0.0.1'], ['127.0.0.0/8']] as const) {
    assert.deepEqual(await resolveOutboundHost('127.0.0.1', allowed), expected);
  }
  assert.equal((await resolveOutboundHost('localhost', ['LOCALHOST'])).isPrivate, true);
  assert.equal((await resolveOutboundHost('::1', ['::/64'])).address, '::1');
});

test('a public address needs no permission of the operator', async () => {
  const expected = { address: '8.8.8.8', family: 4, isPrivate: false };
  assert.deepEqual(await resolveOutboundHost('8.8.8.8', []), expected);
});

test('a name that cannot be resolved is an error that contains the name', async () => {
  await assert.rejects(resolveOutboundHost('nowhere.invalid', 'all'), /nowhere\.invalid/);
});

test('entries of the setting are names, addresses and ranges, and nothing else', () => {
  for (const entry of ['mail.acme.lan', 'mail', '10.0.0.7', '10.0.0.0/8', 'fd00::/8', '::1']) {
    assert.equal(isHostEntry(entry), true, entry);
  }
  for (const entry of [
    '',
    'a b',
    '10.0.0.0/33',
    '10.0.0',
    'http://a',
    'a/8',
    '-a',
    'a..b',
    '::/129',
  ]) {
    assert.equal(isHostEntry(entry), false, entry);
  }
});

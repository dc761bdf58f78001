import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SideThread } from '../../src/base/side-thread.ts';
import { findPasswordFault } from '../../src/people/password-rules.ts';
import { createPasswordHasher } from '../../src/people/passwords.ts';

const person = { email: 'grace.hopper@navy.example', name: 'Grace Hopper' };

test('a password is verified against its hash, in any Unicode form', async () => {
  const { hash, verify } = createPasswordHasher(new SideThread());
  const encoded = await hash('caf\u00e9 au lait');
  assert.match(encoded, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.equal(await verify('cafe\u0301 au lait', encoded), true);
  assert.equal(await verify('cafe au lait', encoded), false);
  assert.equal(await verify('', null), false);
  assert.notEqual(await hash('caf\u00e9 au lait'), encoded, 'each hash has its salt');
});

test('a hash made elsewhere with other parameters verifies', async () => {
  // RFC 9106's reference implementation: argon2 somesalt -id -t 2 -k 256 -p 1 -l 32 <<< password
  const encoded =
    '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4';
  const { verify } = createPasswordHasher(new SideThread());
  assert.equal(await verify('password', encoded), true);
  assert.equal(await verify('Password', encoded), false);
});

test('the pool accepts a bounded number of passwords and refuses the rest', async () => {
  const { verify } = createPasswordHasher(new SideThread());
  const outcomes = await Promise.allSettled(
    Array.from({ length: 80 }, () => verify('x'.repeat(8), null)),
  );
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  assert.equal(refused.length, 80 - 64);
  for (const { reason } of refused) assert.equal(reason.code, 'RATE_LIMITED');
  assert.equal(await verify('afterwards there is room', null), false);
});

for (const password of [
  'password',
  'Password1!',
  'P@ssw0rd2024',
  'QWERTYUIOP',
  'qwerty123456',
  'iloveyou12',
  '1q2w3e4r5t',
  '12345678',
  '87654321',
  'abcdefgh',
  'aaaaaaaaaaaa',
  'abababab',
  'ABC12345',
  'Welcome2026',
  'letmein!!!',
  'trustno1234',
  'signalbox',
  'Grace Hopper',
  'gracehopper1',
  'grace.hopper@navy.example',
  'navy.example',
]) {
  test(`the password ${password} is refused`, () => {
    assert.equal(typeof findPasswordFault(password, person), 'string');
  });
}

for (const password of [
  'violet harbour 9 lanterns',
  'correct lantern battery moss',
  'Sunshine over Ghent',
  'kq0Vv9mYc4Yt',
  'пароль не простой',
  'password manager made 5 words',
  'graceful hopping 7',
]) {
  test(`the password ${password} is accepted`, () => {
    assert.equal(findPasswordFault(password, person), null);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeReply, mayBeReply } from '../../src/notifications/judge-reply.ts';

const trust = { authServId: 'mx.acme.dev', ours: 'hub@acme.dev' };
type Headers = [name: string, value: string][];
const pass: Headers = [['authentication-results', 'mx.acme.dev; dmarc=pass header.from=acme.dev']];
const own: Headers = [
  ['from', 'Ada <ada@acme.dev>'],
  ['in-reply-to', '<ntf_1@acme.dev>'],
  ['message-id', '<reply@acme.dev>'],
];

function judge(headers: Headers, from = ['ada@acme.dev']) {
  const list = headers.map(([key, value]) => ({ key, value }));
  return judgeReply({ headers: list, from, text: 'Yes.' }, trust);
}

const results = (value: string): Headers => [['authentication-results', value]];
const hop: Headers = [
  ['received', 'from relay.example by mx.acme.dev with ESMTPS; Tue, 3 Nov 2026'],
];
const tricky: Headers = [['received', 'from by (relay.example) by mx.acme.dev with ESMTPS; now']];
const relay: Headers = [['received', 'from x by relay.example with SMTP; Tue, 3 Nov 2026']];

const proved: [what: string, headers: Headers][] = [
  ['DMARC passes', pass],
  ['DMARC passes, in other letters', results('MX.ACME.DEV 1; DMARC = Pass HEADER.FROM = Acme.Dev')],
  [
    'DMARC passes, with comments',
    results('mx.acme.dev (a;b) ; dmarc=pass (p=reject) header.from=acme.dev'),
  ],
  ['its trace is above the results', [...hop, ...pass, ...relay]],
  [
    'hops behind the server are above',
    [['received', 'by store.acme.dev with LMTP'], ...pass, ...hop],
  ],
  ['another server says otherwise above', [...results('other.example; dmarc=fail'), ...pass]],
  [
    'the domain has no DMARC, and signs',
    results('mx.acme.dev; dmarc=none; dkim=pass header.d=acme.dev'),
  ],
];

for (const [what, headers] of proved) {
  test(`a sender is proved when ${what}`, () => {
    assert.deepEqual(judge([...headers, ...own]), {
      notificationId: 'ntf_1',
      sender: 'ada@acme.dev',
      messageId: '<reply@acme.dev>',
    });
  });
}

const notProved: [what: string, headers: Headers][] = [
  ['no server says anything', []],
  [
    'another server says that it passes',
    results('mx.evil.example; dmarc=pass header.from=acme.dev'),
  ],
  [
    'DMARC fails',
    results('mx.acme.dev; dmarc=fail header.from=acme.dev; dkim=pass header.d=acme.dev'),
  ],
  ['DMARC has an error', results('mx.acme.dev; dmarc=temperror header.from=acme.dev')],
  ['DMARC passes for another domain', results('mx.acme.dev; dmarc=pass header.from=evil.example')],
  ['DMARC passes for no domain', results('mx.acme.dev; dmarc=pass')],
  ['two results differ', results('mx.acme.dev; dmarc=fail; dmarc=pass header.from=acme.dev')],
  ['nothing was looked at', results('mx.acme.dev; none')],
  [
    'a comment says that it passes',
    results('mx.acme.dev; dkim=fail (; dmarc=pass header.from=acme.dev)'),
  ],
  [
    'a comment ends later',
    results('mx.acme.dev; dkim=fail (\\); dmarc=pass header.from=acme.dev;'),
  ],
  [
    'an address says that it passes',
    results(
      'mx.acme.dev; spf=pass smtp.mailfrom="; dmarc=pass header.from=acme.dev; "@evil.example',
    ),
  ],
  ['the name is quoted', results('"mx.acme.dev"; dmarc=pass header.from=acme.dev')],
  [
    'the name is that of a host above',
    results('mx.acme.dev.evil.example; dmarc=pass header.from=acme.dev'),
  ],
  ['only SPF passes', results('mx.acme.dev; spf=pass smtp.mailfrom=acme.dev')],
  ['another domain signs', results('mx.acme.dev; dkim=pass header.d=evil.example')],
  ['a domain with the same end signs', results('mx.acme.dev; dkim=pass header.d=me.dev')],
  ['a domain below signs', results('mx.acme.dev; dkim=pass header.d=customer.acme.dev')],
  ['a whole country signs', results('mx.acme.dev; dkim=pass header.d=dev')],
  ['a signature fails', results('mx.acme.dev; dkim=fail header.d=acme.dev')],
  ['a header below says otherwise', [...results('mx.acme.dev; dmarc=fail'), ...pass]],
  ['the results are below the hop before', [...hop, ...relay, ...pass]],
  ['that hop calls itself by a word of the trace', [...tricky, ...relay, ...pass]],
];

for (const [what, headers] of notProved) {
  test(`a sender is not proved when ${what}`, () => {
    const judged = judge([...headers, ...own]);
    assert.match('ignored' in judged ? judged.ignored : '', /^its sender is not proved: /);
  });
}

test('a domain above that of the sender may sign', () => {
  const headers = results('mx.acme.dev; dkim=pass header.d=acme.dev');
  assert.ok('sender' in judge([...headers, ...own], ['ada@eu.acme.dev']));
});

const automatic: Headers = [
  ['auto-submitted', 'auto-replied'],
  ['auto-submitted', 'Auto-Generated; reason=vacation'],
  ['precedence', 'Bulk'],
  ['precedence', 'list'],
  ['list-id', '<team.acme.dev>'],
  ['return-path', '<>'],
];

for (const header of automatic) {
  test(`a program's mail is ignored, by ${header.join(': ')}`, () => {
    assert.deepEqual(judge([...pass, header, ...own]), { ignored: 'a program has sent it' });
  });
}

test('a mail that a person has sent says so', () => {
  const headers: Headers = [
    ['auto-submitted', 'no'],
    ['return-path', '<ada@acme.dev>'],
  ];
  assert.ok('sender' in judge([...pass, ...headers, ...own]));
});

test('a mail has one sender', () => {
  const ignored = { ignored: 'it has not one sender' };
  assert.deepEqual(judge([...pass, ...own], ['ada@acme.dev', 'eve@acme.dev']), ignored);
  assert.deepEqual(judge([...pass, ...own], []), ignored);
  assert.deepEqual(judge([...pass, ['from', ''], ...own]), ignored);
});

test('the mail that is answered is the last of ours, by the domain of our address', () => {
  const idOf = (headers: Headers) => {
    const judged = judge([...pass, ['from', 'ada@acme.dev'], ...headers]);
    return 'ignored' in judged ? judged.ignored : judged.notificationId;
  };
  const references = '<ntf_1@acme.dev>\t<x@acme.dev> <ntf_2@ACME.dev> <y@acme.dev>';
  assert.equal(
    idOf([
      ['references', references],
      ['in-reply-to', '<y@acme.dev>'],
    ]),
    'ntf_2',
  );
  assert.equal(
    idOf([
      ['references', references],
      ['in-reply-to', '<ntf_1@acme.dev>'],
    ]),
    'ntf_1',
  );
  const none = 'it answers none of our mails';
  assert.equal(idOf([['in-reply-to', '<ntf_1@evil.example>']]), none);
  assert.equal(idOf([['subject', '<ntf_1@acme.dev>']]), none);
});

test('the beginning of a mail tells whether it may be a reply', () => {
  assert.ok(mayBeReply('Subject: x\r\nIN-REPLY-TO: <ntf_1@acme.dev>\r\n\r\nYes.'));
  assert.ok(mayBeReply('References: <x@acme.dev>\r\n\t<ntf_1@acme.dev>\r\n'));
  assert.ok(!mayBeReply('References: <x@acme.dev>\r\nSubject: <ntf_1@acme.dev>\r\n'));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  REPLY_MARK,
  textAboveQuote,
  trimQuotedReply,
} from '../../../src/context/mail/quoted-reply.ts';

const replies: [what: string, text: string, trimmed: string][] = [
  ['nothing quoted', 'Hello.\n\nBye.', 'Hello.\n\nBye.'],
  [
    'a quote at the end',
    'Yes.\n\nOn Tue, 3 Nov 2026 at 10:00, Ada <ada@acme.dev> wrote:\n> Shall we?\n>> Ask.\n',
    'Yes.',
  ],
  [
    'an attribution over two lines',
    'Yes.\n\nOn Tue, 3 Nov 2026 at 10:00 Ada Lovelace of Acme\n<ada@acme.dev> wrote:\n\n> Shall we?',
    'Yes.',
  ],
  ['a German attribution', 'Ja.\n\nAm 03.11.26 um 10:00 schrieb Ada Lovelace:\n> Gut?', 'Ja.'],
  ['a French attribution', 'Oui.\n\nLe mar. 3 nov. 2026 à 10:00, Ada a écrit :\n> Bien ?', 'Oui.'],
  [
    'a Japanese attribution',
    'はい。\n\n2026年11月3日 10:00 Ada <ada@acme.dev>のメール:\n> 丸め？',
    'はい。',
  ],
  [
    'a quote that is answered in between',
    '> Shall we round?\nYes, half to even.\n> And then?\nThen export.\n\n> The end.',
    '> Shall we round?\nYes, half to even.\n> And then?\nThen export.',
  ],
  [
    'an original message without marks',
    'Fine.\n\n-----Original Message-----\nFrom: Ada\nSent: Tuesday\n\nShall we?',
    'Fine.',
  ],
  [
    'a header block',
    'Fine.\n\nFrom: Ada <ada@acme.dev>\nSent: Tuesday\nTo: team\nSubject: Round\n\nShall we?',
    'Fine.',
  ],
  ['a German header block', 'Gut.\n\nVon: Ada\nGesendet: Dienstag\nAn: Team\n\nRunden?', 'Gut.'],
  ['a signature', 'Yes.\n\n-- \nAda Lovelace\nAcme', 'Yes.'],
  ['line breaks of Windows', 'Yes.\r\n\r\nAda wrote:\r\n> Shall we?\r\n', 'Yes.'],
  ['nothing but a quote', '> Shall we?', '> Shall we?'],
  [
    'a sentence that begins with From:',
    'From: here it is easy.\nGo on.',
    'From: here it is easy.\nGo on.',
  ],
  ['a sentence on what somebody wrote', 'As Ada wrote:\nround it.', 'As Ada wrote:\nround it.'],
];

for (const [what, text, trimmed] of replies) {
  test(`a reply with ${what} is trimmed to what its author wrote`, () => {
    assert.equal(trimQuotedReply(text), trimmed);
  });
}

test('trimming adds no text and never leaves a text empty', () => {
  const line = fc.constantFrom(
    'Yes.',
    '',
    '> q',
    '>> q',
    'Ada wrote:',
    '-- ',
    'From: x',
    'Sent: y',
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
      const text = lines.join('\n');
      const trimmed = trimQuotedReply(text);
      assert.ok(text.includes(trimmed));
      assert.equal(trimmed === '', text.trim() === '');
    }),
    { numRuns: 500 },
  );
});

const ours = `${REPLY_MARK}.\n\nA job asks you\n\n“Go?”`;
const quoted = ours.replaceAll(/^/gm, '> ');
const attribution = 'On Tue, 3 Nov 2026 at 10:00, Signalbox <hub@acme.dev>\nwrote:';

const answers: [what: string, text: string, above: string][] = [
  ['a quote below', `Yes.\n\n${attribution}\n\n${quoted}\n`, 'Yes.'],
  ['a quote without marks', `Yes.\nAll of it.\n\n${ours}`, 'Yes.\nAll of it.'],
  [
    'a header block below a line',
    `Yes.\n\n____________\nFrom: Signalbox\nSent: Tuesday\n\n${ours}`,
    'Yes.',
  ],
  ['a signature', `Yes.\n-- \nAda Lovelace\n\n${attribution}\n${quoted}`, 'Yes.'],
  [
    'the line of a phone',
    `Yes.\n\nSent from my iPhone\n\n> On 3 Nov 2026, Signalbox wrote:\n>\n${quoted}`,
    'Yes.',
  ],
  ['a sentence like it', `Sent from my desk.\nYes.\n\n${quoted}`, 'Sent from my desk.\nYes.'],
  ['an answer below the quote', `${attribution}\n${quoted}\nYes.`, ''],
  ['nothing but a quote', quoted, ''],
  ['nothing but a signature', `-- \nAda Lovelace\n\n${attribution}\n${quoted}`, ''],
  ['no quote', 'Yes.\r\n', 'Yes.'],
];

for (const [what, text, above] of answers) {
  test(`of a reply with ${what} counts what is above our mail`, () => {
    assert.equal(textAboveQuote(text, REPLY_MARK), above);
  });
}

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type DocumentFormat, formatOf } from '../../src/uploads/extraction/document-format.ts';
import type { ExtractOutcome } from '../../src/uploads/extraction/extract-outcome.ts';
import {
  type ExtractorLimits,
  extractorLimits,
  extractText,
} from '../../src/uploads/extraction/extract-text.ts';
import {
  makeDocx,
  makeNestedMail,
  makePdf,
  makePdfBomb,
  makeZip,
} from '../support/document-files.ts';
import { makeTempDir } from '../support/temp-dir.ts';

const MB = 1024 * 1024;
/** A hundred times a usual turn of the event loop; a blocked turn takes longer. */
const TURN_MS_MAX = 1_500;

/** Extracts, and asserts that the hub's own thread was never blocked. */
async function extract(
  t: TestContext,
  format: DocumentFormat,
  bytes: Buffer | string,
  limits: Partial<ExtractorLimits> = {},
  redacts = false,
): Promise<ExtractOutcome> {
  const path = join(makeTempDir(t), 'document');
  writeFileSync(path, bytes);
  let lastMs = performance.now();
  let longestMs = 0;
  const turns = setInterval(() => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  }, 5);
  const { signal } = new AbortController();
  try {
    const document = { path, format, redacts };
    return await extractText(document, signal, { ...extractorLimits, ...limits });
  } finally {
    clearInterval(turns);
    assert.ok(longestMs < TURN_MS_MAX, `the event loop stood still for ${longestMs} ms`);
  }
}

const mail = [
  'From: Ada <ada@acme.dev>',
  'To: Grace <grace@acme.dev>',
  'Subject: =?utf-8?Q?Pl=C3=A4ne?=',
  'Content-Type: multipart/alternative; boundary=x',
  '',
  '--x',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<p>Ship it <b>today</b>.</p><script>alert(1)</script>',
  '--x--',
].join('\r\n');

const documents: [name: string, format: DocumentFormat, bytes: Buffer | string, text: RegExp][] = [
  [
    'a PDF',
    'pdf',
    makePdf(['Requirement one (a)', 'Requirement two']),
    /^Requirement one \(a\)\n\nRequirement two$/,
  ],
  [
    'a Word document',
    'docx',
    makeDocx(['First &amp; foremost', 'Zweitens']),
    /^First & foremost\n\nZweitens$/,
  ],
  [
    'a page',
    'html',
    '<title>x</title><h1>Rules</h1><p>Be <a href="http://e.vil">kind</a>.</p><style>p{}</style>',
    /^Rules\n+Be kind\.$/,
  ],
  ['Markdown', 'markdown', '# Rules\r\n\r\n* one\r\n', /^# Rules\n\n\* one$/],
  ['plain text with a byte order mark', 'text', '\ufeffhello', /^hello$/],
  ['plain text in UTF-16', 'text', Buffer.from('\ufeffhällo', 'utf16le'), /^hällo$/],
  ['plain text in Windows-1252', 'text', Buffer.from([0x68, 0xe4, 0x80]), /^hä€$/],
  [
    'mail',
    'mail',
    mail,
    /^From: Ada <ada@acme\.dev>\nTo: Grace <grace@acme\.dev>\nSubject: Pläne\n\nShip it today\.$/,
  ],
  ['nothing', 'text', '', /^$/],
];

for (const [name, format, bytes, text] of documents) {
  test(`the text of ${name} is read`, async (t) => {
    const outcome = await extract(t, format, bytes);
    assert.ok('text' in outcome, JSON.stringify(outcome));
    assert.match(outcome.text, text);
    assert.equal(outcome.truncated, false);
  });
}

const spaces = Buffer.alloc(100 * MB, ' ');
const hostile: [
  name: string,
  format: DocumentFormat,
  bytes: () => Buffer | string,
  failure: string,
][] = [
  [
    'a Word document of 100 MB in 100 KB',
    'docx',
    () => makeDocx(['x'], { 'word/media.xml': spaces }),
    'too_large',
  ],
  [
    'a Word document with false sizes',
    'docx',
    () => lieAboutSizes(makeDocx(['x'], { 'word/media.xml': spaces })),
    'too_large',
  ],
  [
    'an archive that is not a Word document',
    'docx',
    () => makeZip({ 'a.txt': 'a' }),
    'wrong_content_type',
  ],
  ['a Word document cut in half', 'docx', () => half(makeDocx(['x'])), 'malformed'],
  ['a page called a Word document', 'docx', () => '<p>hello</p>', 'wrong_content_type'],
  ['a Word document called text', 'text', () => makeDocx(['x']), 'wrong_content_type'],
  [
    'a program called Markdown',
    'markdown',
    () => Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0]),
    'wrong_content_type',
  ],
  ['a page called a PDF', 'pdf', () => '<p>hello</p>', 'wrong_content_type'],
  ['a PDF with only a header', 'pdf', () => '%PDF-1.7\n', 'malformed'],
  ['mail nested a thousand times', 'mail', () => makeNestedMail(1_000), 'too_deep'],
  ['a PDF called mail', 'mail', () => makePdf(['x']).subarray(0, 9), 'wrong_content_type'],
];

for (const [name, format, bytes, failure] of hostile) {
  test(`${name} is refused as ${failure}`, async (t) => {
    assert.deepEqual(await extract(t, format, bytes()), { failure });
  });
}

function half(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length / 2);
}

/** Sets the unpacked size of each entry to ten bytes in the directory. */
function lieAboutSizes(archive: Buffer): Buffer {
  for (
    let at = archive.indexOf('PK\x01\x02');
    at !== -1;
    at = archive.indexOf('PK\x01\x02', at + 4)
  ) {
    archive.writeUInt32LE(10, at + 24);
  }
  return archive;
}

test('a PDF of ten thousand pages is read up to the limit', async (t) => {
  const pages = Array.from({ length: 10_000 }, (_, at) => `Page ${at} ${'word '.repeat(20)}`);
  const outcome = await extract(t, 'pdf', makePdf(pages), {
    charsMax: 10_000,
  });
  assert.ok('text' in outcome, JSON.stringify(outcome));
  assert.match(outcome.text, /^Page 0 word/);
  assert.equal(outcome.text.length, 10_000);
  assert.equal(outcome.truncated, true);
});

test('a PDF whose page unpacks to gigabytes is stopped at a limit', async (t) => {
  const outcome = await extract(t, 'pdf', makePdfBomb(256 * MB), {
    memoryBytes: 120 * MB,
    processorMs: 15_000,
  });
  assert.ok('failure' in outcome, JSON.stringify(outcome).slice(0, 200));
  assert.equal(outcome.failure, 'out_of_memory');
});

test('a huge page is cut, and one of a hundred thousand levels is stopped', async (t) => {
  const huge = await extract(t, 'html', `<p>start</p>${'<p>word</p>'.repeat(500_000)}`);
  if ('failure' in huge) assert.fail(huge.failure);
  assert.ok(huge.text.startsWith('start'));
  assert.equal(huge.truncated, true);
  const deep = await extract(t, 'html', `<p>top</p>${'<div>'.repeat(100_000)}bottom`);
  assert.ok('failure' in deep || deep.text.startsWith('top'));
});

test('archives of several disks and ZIP64 are refused before a parser unpacks them', async (t) => {
  const plain = makeDocx(['text']);
  const end = plain.length - 22;
  const marks: [what: string, mark: (bytes: Buffer) => void][] = [
    ['the number of this disk', (bytes) => bytes.writeUInt16LE(0xffff, end + 4)],
    ['the disk of the directory', (bytes) => bytes.writeUInt16LE(0xffff, end + 6)],
    ['the entries of this disk', (bytes) => bytes.writeUInt16LE(0xffff, end + 8)],
    ['the size of the directory', (bytes) => bytes.writeUInt32LE(0xffffffff, end + 12)],
  ];
  for (const [what, mark] of marks) {
    const bytes = Buffer.from(plain);
    mark(bytes);
    assert.deepEqual(await extract(t, 'docx', bytes), { failure: 'malformed' }, what);
  }
  // As the comment of the last entry, so that the directory still ends where it should.
  const withComment = (comment: Buffer) => {
    const bytes = Buffer.concat([plain.subarray(0, end), comment, plain.subarray(end)]);
    bytes.writeUInt16LE(comment.length, plain.lastIndexOf('PK\x01\x02', 'latin1') + 32);
    bytes.writeUInt32LE(plain.readUInt32LE(end + 12) + comment.length, end + comment.length + 12);
    return extract(t, 'docx', bytes);
  };
  assert.ok('text' in (await withComment(Buffer.alloc(20))), 'a comment alone does no harm');
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50);
  assert.deepEqual(await withComment(locator), { failure: 'malformed' }, 'the locator of ZIP64');
});

test('secrets are redacted in the thread, before the text is cut', async (t) => {
  const secret = ['AKIA', 'IOSFODNN7EXAMPLE'].join('');
  const whole = await extract(t, 'text', `Use ${secret}.`, {}, true);
  assert.deepEqual(whole, { text: 'Use [redacted].', truncated: false });
  const cut = await extract(t, 'text', `Use ${secret}.`, { charsMax: 12 }, true);
  assert.deepEqual(cut, { text: 'Use [redacte', truncated: true });
});

test('half a megabyte of starts of secrets does not stop the event loop', async (t) => {
  const outcome = await extract(t, 'text', '-eyJ'.repeat(125_000), {}, true);
  assert.ok('text' in outcome && outcome.text.length === 500_000);
});

test('a document that takes too long is aborted', async (t) => {
  const outcome = await extract(t, 'pdf', makePdf(['x']), { documentMs: 1 });
  assert.deepEqual(outcome, { failure: 'timed_out' });
});

test('a document that takes too much of a processor is aborted', async (t) => {
  const pages = Array.from({ length: 10_000 }, (_, at) => `Page ${at} ${'word '.repeat(20)}`);
  const outcome = await extract(t, 'pdf', makePdf(pages), { processorMs: 10 });
  assert.deepEqual(outcome, { failure: 'timed_out' });
});

test('the format follows the content type, or the file name if the type is unspecific', () => {
  const rows: [contentType: string, fileName: string, format: DocumentFormat | null][] = [
    ['application/pdf', 'x.txt', 'pdf'],
    ['Text/HTML; charset=utf-8', 'x', 'html'],
    ['text/plain', 'README.md', 'markdown'],
    ['text/plain', 'mail.eml', 'text'],
    ['application/octet-stream', 'Mail.EML', 'mail'],
    ['application/octet-stream', 'x.exe', null],
    ['image/png', 'x.pdf', null],
    ['application/zip', 'x.docx', null],
  ];
  for (const [contentType, fileName, format] of rows) {
    assert.equal(formatOf({ contentType, fileName }), format, `${contentType} ${fileName}`);
  }
});

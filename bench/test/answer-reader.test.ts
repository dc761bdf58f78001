import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, AnswerReader, readField } from '../load/answer-reader.ts';

const answerText =
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"ok":true}';

function readAll(chunks: readonly string[]): Answer[] {
  const reader = new AnswerReader();
  return chunks.flatMap((chunk) => reader.read(Buffer.from(chunk, 'latin1')) ?? []);
}

test('an answer can be split at any byte', () => {
  const whole = [{ status: 200, body: '{"ok":true}' }];
  for (let at = 0; at <= answerText.length; at++) {
    const chunks = [answerText.slice(0, at), answerText.slice(at)];
    assert.deepEqual(readAll(chunks), whole, `cut at ${at}`);
  }
  assert.deepEqual(readAll([...answerText]), whole, 'byte by byte');
});

test('a chunk may be overwritten after it was read', () => {
  const reader = new AnswerReader();
  const first = Buffer.from(answerText.slice(0, -4), 'latin1');
  assert.equal(reader.read(first), null);
  first.fill(0);
  assert.equal(reader.read(Buffer.from(answerText.slice(-4)))?.body, '{"ok":true}');
});

test('consecutive answers are read with their statuses', () => {
  const refused = 'HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\n{}';
  assert.deepEqual(
    readAll([answerText, refused, answerText]).map(({ status }) => status),
    [200, 401, 200],
  );
});

test('an invalid answer or one without a length is rejected', () => {
  assert.throws(() => readAll(['SSH-2.0-x\r\n\r\n']), /not an HTTP answer/);
  assert.throws(
    () => readAll(['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n']),
    /content-length/,
  );
  assert.throws(() => readAll([`${answerText}more`]), /longer than its content-length/);
});

test('a field is read from JSON text without parsing it', () => {
  const json = '{"ok":true,"jobId":"job_1","job":{"attempt":3},"reason":null}';
  assert.equal(readField(json, 'jobId'), 'job_1');
  assert.equal(readField(json, 'attempt'), '3');
  assert.equal(readField(json, 'reason'), null);
  assert.equal(readField(json, 'absent'), null);
});

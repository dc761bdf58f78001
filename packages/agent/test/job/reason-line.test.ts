import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reasonLineOf } from '../../src/job/reason-line.ts';

const refused = 'Error: connect ECONNREFUSED 127.0.0.1:5432';
const outputs: Record<string, [output: string, reason: string]> = {
  'a rejected promise of Node': [
    `start\n${refused}\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1611:16)\n`,
    refused,
  ],
  'an error event of Node': [
    `node:events:497\n      throw er; // Unhandled 'error' event\n      ^\n\n${refused}\n` +
      '    at TCPConnectWrap.afterConnect (node:net:1611:16)\n' +
      "Emitted 'error' event on Socket instance at:\n    at emitErrorNT (node:net:1)\n" +
      "  errno: -111,\n  code: 'ECONNREFUSED'\n}\n\nNode.js v26.1.0\n",
    refused,
  ],
  'an exception of Python': [
    'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: no\n',
    'ValueError: no',
  ],
  'an exception of the JVM': [
    'Exception in thread "main" java.lang.IllegalStateException: no\n\tat Main.main(Main.java:1)\n',
    'Exception in thread "main" java.lang.IllegalStateException: no',
  ],
  'a panic of Go': [
    'panic: no\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/a.go:4 +0x27\nexit status 2\n',
    'panic: no',
  ],
  'plain words': ['Tests:\n  2 failed\n', '  2 failed'],
  'a trace without its error': [
    '    at one (a.js:1:1)\n    at two (a.js:2:1)\n',
    '    at two (a.js:2:1)',
  ],
};

for (const [what, [output, reason]] of Object.entries(outputs)) {
  test(`the reason of ${what} is the line with the error`, () => {
    assert.equal(reasonLineOf(output.split('\n')), reason);
  });
}

test('no output has no reason', () => {
  assert.equal(reasonLineOf(['', ' ']), undefined);
});

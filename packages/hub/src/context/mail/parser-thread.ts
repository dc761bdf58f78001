import { parentPort } from 'node:worker_threads';
import { readMailMessage } from './read-message.ts';

/*
 * The thread in which messages are read, one after the other: whatever a message does to its
 * parser, the hub goes on answering, and can end this thread. `MailReader` is its other side.
 */

if (parentPort === null) throw new Error('this file is run as a thread');
const port = parentPort;

port.on('message', (source: Uint8Array) => {
  readMailMessage(source).then(
    (message) => port.postMessage({ message }),
    (error: unknown) => port.postMessage({ refusal: String(error) }),
  );
});

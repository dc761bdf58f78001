import { parentPort, workerData } from 'node:worker_threads';
import { yieldToEventLoop } from '../../base/thread-priority.ts';
import { type MailReading, readMailMessage } from './read-message.ts';

/*
 * The thread that parses messages, one after the other. If a hostile message blocks the parser, the
 * hub keeps answering and can terminate this thread. `MailReader` starts it and waits for it.
 */

if (parentPort === null) throw new Error('this file runs as a worker thread only');
const port = parentPort;
yieldToEventLoop();
// `MailReader` starts this thread with it.
const reading = workerData as MailReading;

port.on('message', (source: Uint8Array) => {
  readMailMessage(source, reading).then(
    (message) => port.postMessage({ message }),
    (error: unknown) => port.postMessage({ refusal: String(error) }),
  );
});
// The time limit of a message begins when the parser is loaded.
port.postMessage('ready');

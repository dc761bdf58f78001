import { parentPort, workerData } from 'node:worker_threads';
import { yieldToEventLoop } from '../../base/thread-priority.ts';
import type { ReadingOrder } from './message-reader.ts';
import { type MailMessage, type MailReading, readMailMessage } from './read-message.ts';
import { type ReplyMail, readReplyMail } from './read-reply.ts';

/*
 * The thread that parses messages, one after the other. If a hostile message blocks the parser, the
 * hub keeps answering and can terminate this thread. `MailReader` starts it and waits for it.
 */

if (parentPort === null) throw new Error('this file runs as a worker thread only');
const port = parentPort;
yieldToEventLoop();
// `MailReader` starts this thread with it.
const reading = workerData as MailReading;

port.on('message', ({ source, replyMark }: ReadingOrder) => {
  const read: Promise<MailMessage | ReplyMail> =
    replyMark === null ? readMailMessage(source, reading) : readReplyMail(source, replyMark);
  read.then(
    (message) => port.postMessage({ message }),
    (error: unknown) => port.postMessage({ refusal: String(error) }),
  );
});
// The time limit of a message begins when the parser is loaded.
port.postMessage('ready');

import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  to: string[];
  /** As it was sent, without the breaks of quoted-printable. */
  text: string;
  atMs: number;
}

/** A mail server on this machine that keeps what it takes. */
export async function startMailInbox() {
  const mails: ReceivedMail[] = [];
  const heard = new EventEmitter();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    async onData(stream, { envelope }, reply) {
      const sent = (await buffer(stream)).toString('utf8');
      const to = envelope.rcptTo.map(({ address }) => address);
      const text = sent.replaceAll('=\r\n', '').replaceAll('=3D', '=');
      mails.push({ to, text, atMs: performance.now() });
      reply();
      heard.emit('mail');
    },
  });
  // A hub that is killed ends its connection with an error.
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return {
    url: `smtp://127.0.0.1:${(listening.address() as AddressInfo).port}`,
    mails,
    /** The mail of this number, from 1, which may come yet. */
    async next(number: number): Promise<ReceivedMail> {
      for (;;) {
        const mail = mails[number - 1];
        if (mail !== undefined) return mail;
        await once(heard, 'mail');
      }
    },
    close() {
      for (const connection of server.connections) connection.close();
      server.close();
    },
  };
}

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { SmtpServer } from '../../src/start/setting-values.ts';

/** The reply about the next recipient; `nothing`: the server does not answer any more. */
type SmtpAnswer = { code: number; words: string } | 'nothing';

/** A mail server on this machine that keeps what it takes. */
export async function startSmtpReceiver(t: TestContext, options: SMTPServerOptions = {}) {
  const mails: { to: string[]; text: string; mail: Email; secure: boolean }[] = [];
  const answers: SmtpAnswer[] = [];
  let asked = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    ...options,
    onRcptTo(_address, _session, reply) {
      asked += 1;
      const answer = answers.shift();
      if (answer === 'nothing') return;
      if (answer === undefined) return reply();
      reply(Object.assign(new Error(answer.words), { responseCode: answer.code }));
    },
    async onData(stream, { envelope, secure }, reply) {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString('utf8');
      const to = envelope.rcptTo.map(({ address }) => address);
      mails.push({ to, text, secure, mail: await PostalMime.parse(text) });
      reply();
    },
  });
  // A client that hangs up ends its connection with an error.
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  t.after(() => {
    for (const connection of server.connections) connection.close();
    server.close();
  });
  const smtp: SmtpServer = {
    host: '127.0.0.1',
    port: (listening.address() as AddressInfo).port,
    tls: 'none',
    auth: null,
    from: 'signalbox@acme.dev',
  };
  return {
    smtp,
    mails,
    /** How many recipients it was asked about. */
    asked: () => asked,
    connections: () => server.connections.size,
    /** Answers the next recipients so, in turn; later ones are taken. */
    answerWith: (...next: SmtpAnswer[]) => void answers.push(...next),
  };
}

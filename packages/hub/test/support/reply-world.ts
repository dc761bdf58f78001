import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { consoleEndpoints } from '@signalbox/contract';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { insertMembership } from '../../src/access/store.ts';
import { insertPerson } from '../../src/people/store.ts';
import type { ReplyMailbox } from '../../src/start/setting-values.ts';
import { signInFirstOwner } from './console-person.ts';
import { startDecisionWorld } from './decision-world.ts';
import type { Dovecot } from './dovecot.ts';
import { startSmtpReceiver } from './smtp-receiver.ts';

export const PASSES = 'mx.acme.dev; dmarc=pass header.from=acme.dev';

/** The mails that a hub has sent, and a server that takes replies into its mailbox. */
export async function startMailServers(t: TestContext, dovecot: Dovecot) {
  const outgoing = await startSmtpReceiver(t);
  const incoming = await startSmtpReceiver(t);
  const { user, password: pass } = dovecot;
  const replyMailbox: ReplyMailbox = {
    host: 'localhost',
    port: dovecot.tlsPort,
    tls: 'tls',
    auth: { user, pass },
    mailbox: 'INBOX',
    authServId: 'mx.acme.dev',
  };
  const { host, port } = incoming.smtp;
  const transport = createTransport({ host, port, secure: false, ignoreTLS: true });
  t.after(() => transport.close());
  return {
    config: { smtp: outgoing.smtp, replyMailbox },
    outgoing,
    dovecot,
    /** Sends a mail as a person's program does. The server adds what it found to its top. */
    async mailIn(mail: SendMailOptions, results = PASSES): Promise<string> {
      await transport.sendMail({ from: 'Ada <ada@acme.dev>', to: 'signalbox@acme.dev', ...mail });
      const { text = '' } = incoming.mails.at(-1) ?? {};
      const trace = 'Received: from laptop (127.0.0.1)\r\n\tby mx.acme.dev with ESMTP; now';
      return dovecot.deliver(`Authentication-Results: ${results}\r\n${trace}\r\n${text}`);
    },
  };
}

/** A hub that reads replies, and a person who is told by mail. */
export async function startReplyWorld(t: TestContext, dovecot: Dovecot) {
  const servers = await startMailServers(t, dovecot);
  const h = await startDecisionWorld(t, { config: servers.config });
  const person = await signInFirstOwner(h);
  const { workspaceId, hub } = h;
  const channel = {
    workspaceId,
    kind: 'mail' as const,
    name: 'Mail',
    events: ['decision' as const],
  };
  const put = (more: object = {}) =>
    person.call(consoleEndpoints.notificationChannels.put, {
      ...channel,
      showsText: true,
      ...more,
    });
  const { channel: own } = await put();
  const { mails } = servers.outgoing;
  const mailOf = async (uncertaintyId: string) => {
    await hub.loops.notifications.runOnce();
    const mail = mails.map((one) => one.mail).find(({ text }) => text?.includes(uncertaintyId));
    assert.ok(mail, 'the question was mailed');
    return mail;
  };
  return {
    ...h,
    ...servers,
    person,
    put,
    channelId: own.channelId,
    /** Another member, with an account of the same domain. */
    addMember: async (name: string) => {
      const { deps, database } = hub;
      const person_id = deps.ids('person');
      await database.write(workspaceId, async (tx) => {
        const created_at = tx.nowMs;
        const person = { person_id, name, email: `${name}@acme.dev`, password_hash: '' };
        await insertPerson(tx, { ...person, created_at });
        const membership = { workspace_id: workspaceId, person_id, role: 'member' as const };
        await insertMembership(tx, { ...membership, created_at });
      });
    },
    /** The mail about a question. */
    mailOf,
    /** A reply to it, as mail programs write it. */
    async reply(uncertaintyId: string, text: string, more: SendMailOptions = {}, results = PASSES) {
      const { messageId = '', text: ours = '' } = await mailOf(uncertaintyId);
      const quote = ours.trimEnd().replaceAll(/^/gm, '> ');
      return await servers.mailIn(
        {
          inReplyTo: messageId,
          references: messageId,
          subject: 'Re: A job asks you',
          text: `${text}\n\nOn Tue, 3 Nov 2026, Signalbox <signalbox@acme.dev> wrote:\n${quote}\n`,
          ...more,
        },
        results,
      );
    },
    whole: h.read,
    send: () => hub.loops.notifications.runOnce(),
    read: () => hub.loops.mailReplies.runOnce(),
    state: async (uncertaintyId: string) => {
      const { status, resolution } = await h.read(uncertaintyId);
      return [status, resolution?.value ?? null];
    },
    /** The texts of mails that say why a reply does not count. */
    refusals: () =>
      mails.filter(({ mail }) => /^Your reply/.test(mail.subject ?? '')).map(({ mail }) => mail),
    /** How many mails of the mailbox are not marked as seen. */
    unseen: () => countUnseen(servers.dovecot),
  };
}

export function countUnseen({ newDir }: Dovecot): number {
  const read = readdirSync(join(dirname(newDir), 'cur'));
  return readdirSync(newDir).length + read.filter((name) => !/:2,\w*S/.test(name)).length;
}

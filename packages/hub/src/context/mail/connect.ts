import { rootCertificates } from 'node:tls';
import type { ImapFlow } from 'imapflow';
import { OutboundHostError, type PrivateHosts, resolveOutboundHost } from '../../outbound-hosts.ts';

/** How a mail account is reached, its secret opened. */
export interface MailAccess {
  host: string;
  port: number;
  tlsMode: 'tls' | 'starttls' | 'none';
  caCertificate: string | null;
  userName: string;
  authKind: 'password' | 'oauth';
  secret: string;
}

/** Of one message at most this is fetched (reliability, security 10). */
export const MESSAGE_BYTES_MAX = 1_048_576;
/** A response holds one message, and the framing around it. */
const RESPONSE_BYTES_MAX = MESSAGE_BYTES_MAX + 262_144;
const LINE_BYTES_MAX = 262_144;

/**
 * Connects and signs in. The connection goes to the address that was judged, not to the name; the
 * certificate is held against the name. It ends with the signal, and with `client.close()`.
 *
 * @throws OutboundHostError when the host may not be called; whatever the connection throws.
 */
export async function connectMail(
  access: MailAccess,
  allowed: PrivateHosts,
  signal: AbortSignal,
): Promise<ImapFlow> {
  const { address, isPrivate } = await resolveOutboundHost(access.host, allowed);
  signal.throwIfAborted();
  if (access.tlsMode === 'none' && !isPrivate) {
    throw new OutboundHostError(
      `The host ${access.host} is on the public internet: without TLS the password could be read.`,
    );
  }
  // Read when it is first needed: most hubs fetch no mail, and it is the largest of all packages.
  const imapflow = await import('imapflow');
  const client = new imapflow.ImapFlow({
    host: address,
    port: access.port,
    servername: access.host,
    secure: access.tlsMode === 'tls',
    doSTARTTLS: access.tlsMode === 'starttls',
    tls: {
      servername: access.host,
      ...(access.caCertificate === null ? {} : { ca: [...rootCertificates, access.caCertificate] }),
    },
    auth: {
      user: access.userName,
      ...(access.authKind === 'oauth' ? { accessToken: access.secret } : { pass: access.secret }),
    },
    clientInfo: { name: 'Signalbox' },
    logger: false,
    disableAutoIdle: true,
    disableCompression: true,
    maxLineLength: LINE_BYTES_MAX,
    maxLiteralSize: MESSAGE_BYTES_MAX + 1,
    maxResponseSize: RESPONSE_BYTES_MAX,
  });
  // Every command rejects by itself when the connection fails; the event has nothing to add.
  client.on('error', () => undefined);
  const close = () => client.close();
  signal.addEventListener('abort', close, { once: true });
  client.on('close', () => signal.removeEventListener('abort', close));
  try {
    await client.connect();
  } catch (error) {
    client.close();
    throw error;
  }
  signal.throwIfAborted();
  return client;
}

import { rootCertificates } from 'node:tls';
import type { ImapFlow } from 'imapflow';
import {
  OutboundHostError,
  type PrivateHosts,
  resolveOutboundHost,
} from '../../base/outbound-hosts.ts';

/** How to connect to a mail account, with the decrypted secret. */
export interface MailAccess {
  host: string;
  port: number;
  tlsMode: 'tls' | 'starttls' | 'none';
  caCertificate: string | null;
  userName: string;
  authKind: 'password' | 'oauth';
  secret: string;
}

/** How much of one message is fetched at most. */
export const MESSAGE_BYTES_MAX = 1_048_576;
/** A response contains one message and its framing. */
const RESPONSE_BYTES_MAX = MESSAGE_BYTES_MAX + 262_144;
const LINE_BYTES_MAX = 262_144;

/**
 * Connects and signs in. The connection goes to the address that was checked, not to the name, so
 * that a second DNS answer cannot redirect it. The certificate must be for the name. The connection
 * ends with the signal or `client.close()`.
 *
 * @throws OutboundHostError when the host is not allowed; connection errors.
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
      `The host ${access.host} is on the public internet, where TLS is required.`,
    );
  }
  // Loaded on first use: most hubs fetch no mail, and this is the largest of all packages.
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
  // When the connection fails, each pending command rejects; the event adds nothing.
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

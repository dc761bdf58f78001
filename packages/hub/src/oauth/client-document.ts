import type { PrivateHosts } from '../base/outbound-hosts.ts';
import { requestOutbound } from '../base/outbound-request.ts';
import { parseJsonBody } from '../http/json-body.ts';
import { type ClientMetadata, readClientMetadata } from './client-metadata.ts';
import { OauthError } from './oauth-error.ts';

/** Ten times what the documents of the known clients have. */
const DOCUMENT_BYTES_MAX = 16_384;

/**
 * Whether a client id is the address of a document: HTTPS with a path, and nothing that would make
 * two texts of one address (draft-ietf-oauth-client-id-metadata-document, section 3).
 */
export function isDocumentUrl(clientId: string): boolean {
  const url = URL.parse(clientId);
  if (url === null || url.protocol !== 'https:' || url.pathname === '/') return false;
  return url.href === clientId && url.username === '' && url.password === '' && url.hash === '';
}

/**
 * Fetches the words of a client about itself. They are from the host that the client id names.
 *
 * @throws OauthError invalid_client, in words for the person who is asked.
 */
export async function fetchClientDocument(
  clientId: string,
  deps: { allowed: PrivateHosts; log: { error(context: object, message: string): void } },
): Promise<ClientMetadata> {
  const url = new URL(clientId);
  try {
    const metadata = readClientMetadata(await readDocument(url, deps.allowed));
    if (metadata.clientId !== clientId) throw refusal(url, 'it names another client_id');
    return metadata;
  } catch (error) {
    if (error instanceof OauthError) throw refusal(url, error.message);
    deps.log.error({ err: error }, 'The document of an OAuth client was not read.');
    throw refusal(url, 'the log of the hub says why');
  }
}

function refusal({ host }: URL, why: string): OauthError {
  return new OauthError('invalid_client', `The document of ${host} cannot be used: ${why}.`);
}

async function readDocument(url: URL, allowed: PrivateHosts): Promise<unknown> {
  const answer = await requestOutbound(url, {
    method: 'GET',
    headers: { accept: 'application/json' },
    allowed,
  });
  try {
    if (answer.statusCode !== 200) throw new Error(`The status is ${answer.statusCode}, not 200.`);
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      if (sizeBytes > DOCUMENT_BYTES_MAX) throw new Error('The document is too large.');
      chunks.push(chunk);
    }
    return parseJsonBody(Buffer.concat(chunks));
  } finally {
    answer.destroy();
  }
}

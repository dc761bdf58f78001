import type { PrivateHosts } from '../base/outbound-hosts.ts';
import { requestOutbound } from '../base/outbound-request.ts';

export interface PostReply {
  status: number;
  /** Seconds or a date, as the receiver sent it. */
  retryAfter: string | null;
}

/**
 * Posts a body to an address of the outside. The body of the reply is not read: nothing of it
 * reaches anybody.
 *
 * @throws as `requestOutbound` does.
 */
export async function post(
  url: URL,
  body: string | Buffer,
  options: { headers: Record<string, string>; allowed: PrivateHosts; signal: AbortSignal },
): Promise<PostReply> {
  const headers = { ...options.headers, 'content-length': String(Buffer.byteLength(body)) };
  const response = await requestOutbound(url, { ...options, method: 'POST', headers, body });
  response.destroy();
  const retryAfter = response.headers['retry-after'] ?? null;
  return { status: response.statusCode ?? 0, retryAfter };
}

import { OutboundHostError } from '../../outbound-hosts.ts';

const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'CONNECT_TIMEOUT',
  'NoConnection',
  'EConnectionClosed',
]);

/**
 * Why an account could not be read, in a sentence for people and agents: nothing of what the
 * server said, which anybody may have written, and nothing of the secret.
 */
export function describeMailFailure(
  error: unknown,
  accountName: string,
  signal: AbortSignal,
  totalMs: number,
): string {
  const server = `The mail server of the account "${accountName}"`;
  if (error instanceof OutboundHostError) {
    return `The mail account "${accountName}" cannot be used. ${error.message}`;
  }
  if (signal.aborted) return `${server} did not answer within ${totalMs / 1_000} s.`;
  const { authenticationFailed, code } = (error ?? {}) as {
    authenticationFailed?: unknown;
    code?: unknown;
  };
  if (authenticationFailed === true) return `${server} refused the sign-in.`;
  if (typeof code !== 'string') return `${server} gave an answer that could not be read.`;
  if (unreachable.has(code)) return `${server} could not be reached.`;
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ISSUER/.test(code)) {
    return `${server} has a certificate that is not trusted, or not for its name.`;
  }
  return `${server} gave an answer that could not be read.`;
}

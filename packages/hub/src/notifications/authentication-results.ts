import type { MailHeader } from '../context/mail/read-reply.ts';

/** One statement of a header, such as `dmarc=pass header.from=acme.dev`. */
interface Result {
  method: string;
  result: string;
  properties: ReadonlyMap<string, string>;
}

/**
 * Why a mail does not prove that it comes from the domain of its From header, by the word of the
 * receiving server (RFC 8601); null: it does.
 *
 * @param authServId of that server, in lower case.
 */
export function findDoubt(
  headers: readonly MailHeader[],
  authServId: string,
  domain: string,
): string | null {
  const results = findTrusted(headers, authServId);
  if (results === null) return `${authServId} says nothing of it in Authentication-Results`;
  const judged = results.filter(({ method, result }) => method === 'dmarc' && result !== 'none');
  if (judged.length > 0) {
    const passes = judged.every(
      ({ result, properties }) => result === 'pass' && properties.get('header.from') === domain,
    );
    return passes ? null : 'DMARC does not pass for the domain of From';
  }
  const isSigned = results.some(
    ({ method, result, properties }) =>
      method === 'dkim' && result === 'pass' && isAligned(properties.get('header.d'), domain),
  );
  return isSigned ? null : 'no DMARC result, and no DKIM signature of the domain of From passes';
}

/**
 * Whether the signing domain is that of From or one above it. That is less than the relaxed
 * alignment of DMARC, which needs a list of public suffixes: a domain below may be a customer's.
 */
function isAligned(signer: string | undefined, domain: string): boolean {
  if (signer === undefined || !signer.includes('.')) return false;
  return domain === signer || domain.endsWith(`.${signer}`);
}

/**
 * The results of the topmost header of the server: each server adds its own above those of others,
 * so a header further down may be the sender's. Null: the server has added none.
 */
function findTrusted(headers: readonly MailHeader[], authServId: string): Result[] | null {
  for (const { key, value } of aboveOtherHops(headers, authServId)) {
    if (key !== 'authentication-results') continue;
    const [[id = ''] = [], ...statements] = splitStatements(value);
    if (id === authServId) return statements.flatMap(parseResult);
  }
  return null;
}

/** The headers down to the trace of the hop before the server, if Received names the server. */
function aboveOtherHops(headers: readonly MailHeader[], authServId: string): readonly MailHeader[] {
  const traces = headers.filter(({ key }) => key === 'received');
  const own = traces.findIndex(({ value }) => isReceivedBy(value, authServId));
  const before = own === -1 ? undefined : traces[own + 1];
  return before === undefined ? headers : headers.slice(0, headers.indexOf(before));
}

function isReceivedBy(received: string, host: string): boolean {
  const [words = []] = splitStatements(received);
  // The sender chooses the word after `from`, which may be `by`.
  return words.some((word, at) => word === 'by' && words[at + 1] === host);
}

function parseResult([first = '', ...rest]: readonly string[]): Result[] {
  const [, method, result] = /^([\w-]+)(?:\/\d+)?=(\w+)$/.exec(first) ?? [];
  if (method === undefined || result === undefined) return [];
  const properties = rest.map((word): [string, string] => {
    const at = word.indexOf('=');
    return [word.slice(0, at), word.slice(at + 1)];
  });
  return [{ method, result, properties: new Map(properties) }];
}

/**
 * The words of a header, in lower case, in statements that semicolons separate. Comments are left
 * out, and a quoted text is a quotation mark: both may contain text of the sender.
 */
function splitStatements(value: string): string[][] {
  let text = '';
  let depth = 0;
  let isQuoted = false;
  for (const [char] of value.matchAll(/\\.|./gs)) {
    if (isQuoted) isQuoted = char !== '"';
    else if (char === '(') {
      depth += 1;
      // It separates words.
      text += ' ';
    } else if (depth > 0) depth -= char === ')' ? 1 : 0;
    else {
      isQuoted = char === '"';
      text += char;
    }
  }
  return text
    .toLowerCase()
    .replace(/\s*=\s*/g, '=')
    .split(';')
    .map((statement) => statement.split(/\s+/).filter((word) => word !== ''));
}

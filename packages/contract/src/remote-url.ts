/**
 * One name for one repository, however its remote is written. The hub knows a repository only by
 * the SHA-256 of this name, so two clones meet exactly when their remotes normalize alike; the
 * rule therefore never changes, and `remoteUrlVectors` pins it for other implementations.
 *
 * Git's three notations are read: `scheme://[user[:pass]@]host[:port]/path`, the scp form
 * `[user@]host:path`, and plain paths. The result is `host[:port]/path` in lower case, without
 * scheme, credentials, the scheme's default port, query, fragment, trailing slashes and one
 * trailing `.git`; a local path stays a path. What the notations leave open is decided so:
 *
 * - Slashes between host and path are one separator: `host:/a/b` and `host:a/b` are alike.
 * - Percent-encoding stays as written (in lower case): only the server knows what it means.
 * - `?` and `#` end the path in URLs only; in the scp form and in paths they are letters.
 * - One trailing dot of a host (the DNS root) is dropped; hosts are not resolved otherwise, and
 *   SSH aliases are replaced by the agent (`ssh -G`) beforehand.
 * - `host/path` without a scheme is read as if `https://` stood before it.
 * - Backslashes are slashes in Windows paths; `\\server\share` is `file://server/share`.
 * - Refused: paths relative to `.` or `..`, which mean another repository in every directory;
 *   remote helpers (`name::address`), hosts that begin with a dash, control characters.
 *
 * A normal form is a name, not a URL: one with a port must not be normalized again, because
 * `host:8443/path` is the scp form of another repository.
 */

/** The remote URL cannot be read. The message never repeats it: it may hold credentials. */
export class RemoteUrlError extends Error {
  override readonly name = 'RemoteUrlError';
}

const SSH_PORT = 22;
const defaultPorts: ReadonlyMap<string, number> = new Map([
  ['ssh', SSH_PORT],
  ['git+ssh', SSH_PORT],
  ['ssh+git', SSH_PORT],
  ['https', 443],
  ['http', 80],
  ['git', 9418],
  ['ftp', 21],
  ['ftps', 990],
]);
const PORT_MAX = 65_535;
/** Longer than any host or file system takes. */
const REMOTE_URL_CHARS_MAX = 8_192;

const schemePattern = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i;
const helperPattern = /^[a-z0-9][a-z0-9+.-]*::/i;
/** What precedes the path must not hold a slash; with two `@`, the last one ends the user. */
const scpPattern = /^(?:[^/\\[][^/\\]*@)?([^/\\:@[\]]+|\[[^\]/\\]*\]):(.*)$/;
const drivePattern = /^[a-z]:[/\\]/i;
/** `user:pass@host/path`: Git would take `user` for the host and the password for its path. */
const bareCredentialsPattern = /^[^/:@]+:[^/]+@[^/:]*(?:\/|$)/;
const hostPattern = /^[^\s/\\?#@:[\]]+$/;
const ipv6Pattern = /^\[[0-9a-f:.]+(?:%[0-9a-z_.-]+)?\]$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const controlPattern = /[\u0000-\u001f\u007f]/;

/**
 * The normal form of a Git remote URL (docs/reference/protocol.md, section 3.5).
 * @throws {RemoteUrlError} when the text is empty or names no repository.
 */
export function normalizeRemoteUrl(url: string): string {
  const text = url.trim();
  if (text === '') throw new RemoteUrlError('The remote URL is empty; give the URL of a remote.');
  if (text.length > REMOTE_URL_CHARS_MAX) {
    throw new RemoteUrlError(`The remote URL is longer than ${REMOTE_URL_CHARS_MAX} characters.`);
  }
  if (controlPattern.test(text) || !text.isWellFormed()) {
    throw new RemoteUrlError('The remote URL holds control characters or broken Unicode.');
  }
  const [, scheme, rest] = schemePattern.exec(text) ?? [];
  if (scheme !== undefined && rest !== undefined) return readUrl(scheme.toLowerCase(), rest);
  if (helperPattern.test(text)) {
    throw new RemoteUrlError(
      'Remote helpers (name::address) are not supported; give an SSH or HTTPS URL.',
    );
  }
  if (isLocalPath(text)) return readLocalPath(text);
  return readScpForm(text) ?? readBareUrl(text);
}

/**
 * The hash under which the hub knows a repository: SHA-256 of the normal form in UTF-8, as 64
 * lower-case hex digits (docs/reference/specification.md, Repository).
 * @throws {RemoteUrlError} as {@link normalizeRemoteUrl}.
 */
export async function hashRemoteUrl(url: string): Promise<string> {
  const bytes = new TextEncoder().encode(normalizeRemoteUrl(url));
  const digest = new Uint8Array(await globalThis.crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function readUrl(scheme: string, rest: string): string {
  const location = rest.replace(/[?#].*$/s, '');
  if (scheme === 'file') return readFileUrl(location);
  const slashAt = location.indexOf('/');
  if (slashAt < 0) throw pathMissing();
  const authority = location.slice(0, slashAt);
  const hostAndPort = authority.slice(authority.lastIndexOf('@') + 1);
  return joinName(readHost(hostAndPort, defaultPorts.get(scheme)), location.slice(slashAt));
}

/** `file://server/share` is a network share; no server, or `localhost`, is this machine. */
function readFileUrl(location: string): string {
  const local = location.replace(/^localhost(?=\/)/i, '');
  if (local.startsWith('/') || drivePattern.test(local)) return readLocalPath(local);
  return readUrl('', local);
}

function isLocalPath(text: string): boolean {
  return /^[/\\~]/.test(text) || drivePattern.test(text);
}

function readLocalPath(text: string): string {
  // A path of POSIX may hold backslashes; one that begins like a Windows path means slashes.
  const windows = /^(?:\\|\/?[a-z]:[/\\])/i.test(text);
  const path = windows ? text.replaceAll('\\', '/') : text;
  if (/^\/\/[^/]/.test(path)) return readUrl('', path.slice(2));
  const shortened = shortenPath(path.replace(/^\/+/, '/').replace(/^\/(?=[a-z]:\/)/i, ''));
  if (/^(?:[a-z]:|~|)$/i.test(shortened)) throw pathMissing();
  return shortened.toLowerCase();
}

function readScpForm(text: string): string | null {
  if (bareCredentialsPattern.test(text)) {
    throw new RemoteUrlError(
      'The remote URL begins like credentials; write its scheme (https:// or ssh://) before them.',
    );
  }
  const [, host, path] = scpPattern.exec(text) ?? [];
  if (host === undefined || path === undefined) return null;
  // Git also reads [user@host:port]:path; with more than one colon it is an IPv6 address.
  const bracketed = /^\[(?:.*@)?([^:]+:[^:]*)\]$/.exec(host)?.[1];
  return joinName(readHost(bracketed ?? host, SSH_PORT), path);
}

function readBareUrl(text: string): string {
  if (/^\.{1,2}(?:[/\\]|$)/.test(text)) {
    throw new RemoteUrlError('The remote is a relative path; give the absolute path.');
  }
  if (!text.includes('/')) {
    throw new RemoteUrlError('The remote URL is neither a URL nor an absolute path.');
  }
  return readUrl('https', text);
}

/** `host` or `host:port` in lower case, without the default port. */
function readHost(text: string, defaultPort: number | undefined): string {
  const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text) ?? [];
  if (port !== '' && !(/^\d{1,5}$/.test(port) && Number(port) <= PORT_MAX && Number(port) > 0)) {
    throw new RemoteUrlError(
      'The port of the remote URL is not a number from 1 to 65535; the form host:path takes no scheme.',
    );
  }
  const name = host.startsWith('[') ? host : host.replace(/\.$/, '');
  const valid = name.startsWith('[') ? ipv6Pattern.test(name) : hostPattern.test(name);
  // Git refuses the dash as well: `ssh` would take such a host for an option.
  if (!valid || name.startsWith('-')) {
    throw new RemoteUrlError('The remote URL names no valid host.');
  }
  const portPart = port === '' || Number(port) === defaultPort ? '' : `:${Number(port)}`;
  return name.toLowerCase() + portPart;
}

function joinName(host: string, path: string): string {
  const shortened = shortenPath(path.replace(/^\/+/, ''));
  if (shortened === '') throw pathMissing();
  return `${host}/${shortened.toLowerCase()}`;
}

/** `.git` alone goes like a suffix: `/srv/api/.git` is the repository of `/srv/api`. */
function shortenPath(path: string): string {
  return path
    .replace(/[\s/]+$/, '')
    .replace(/\.git$/i, '')
    .replace(/[\s/]+$/, '');
}

function pathMissing(): RemoteUrlError {
  return new RemoteUrlError('The remote URL names a host but no repository on it.');
}

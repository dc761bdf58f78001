/**
 * Normalizes the remote URL of a repository, so that all notations of it give one name. The hub
 * knows a repository only by the SHA-256 of this name: two clones belong together exactly when
 * their remotes normalize to the same name. So the rule never changes, and `remoteUrlVectors` fixes
 * it for other implementations.
 *
 * Git has three notations: `scheme://[user[:pass]@]host[:port]/path`, the scp form
 * `[user@]host:path`, and plain paths. The result is `host[:port]/path` in lower case, without
 * scheme, credentials, the scheme's default port, query, fragment, trailing slashes and one
 * trailing `.git`. A local path stays a path. Decisions where the notations are ambiguous:
 *
 * - All slashes between host and path are one separator: `host:/a/b` equals `host:a/b`.
 * - Percent-encoding stays as written, in lower case, because only the server knows its meaning.
 * - `?` and `#` end the path in URLs only; elsewhere they are ordinary characters.
 * - One trailing dot of a host (the DNS root) is dropped. Hosts are not resolved; the agent
 *   replaces SSH aliases beforehand (`ssh -G`).
 * - `host/path` without a scheme is read as `https://host/path`.
 * - Backslashes in Windows paths are slashes; `\\server\share` equals `file://server/share`.
 * - Rejected: paths relative to `.` or `..`, which mean another repository in every directory;
 *   remote helpers (`name::address`); hosts that begin with a dash; control characters.
 *
 * The result is a name and not a URL. Do not normalize it again if it has a port: `host:8443/path`
 * is the scp form of another repository.
 */

/** The remote URL is invalid. The message never repeats it, because it may contain credentials. */
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
/** Longer than any host or file system accepts. */
const REMOTE_URL_CHARS_MAX = 8_192;

const schemePattern = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i;
const helperPattern = /^[a-z0-9][a-z0-9+.-]*::/i;
/** The part before the path must not contain a slash. With two `@`, the last one ends the user. */
const scpPattern = /^(?:[^/\\[][^/\\]*@)?([^/\\:@[\]]+|\[[^\]/\\]*\]):(.*)$/;
const drivePattern = /^[a-z]:[/\\]/i;
/** `user:pass@host/path`: Git would read `user` as the host and the password as its path. */
const bareCredentialsPattern = /^[^/:@]+:[^/]+@[^/:]*(?:\/|$)/;
const hostPattern = /^[^\s/\\?#@:[\]]+$/;
const ipv6Pattern = /^\[[0-9a-f:.]+(?:%[0-9a-z_.-]+)?\]$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are rejected
const controlPattern = /[\u0000-\u001f\u007f]/;

/**
 * Returns the normal form of a Git remote URL (docs/reference/protocol.md, section 3.5).
 * @throws {RemoteUrlError} if the text is empty or names no repository.
 */
export function normalizeRemoteUrl(url: string): string {
  const text = url.trim();
  if (text === '') throw new RemoteUrlError('The remote URL is empty; set the URL of the remote.');
  if (text.length > REMOTE_URL_CHARS_MAX) {
    throw new RemoteUrlError(
      `The remote URL must have at most ${REMOTE_URL_CHARS_MAX} characters.`,
    );
  }
  if (controlPattern.test(text) || !text.isWellFormed()) {
    throw new RemoteUrlError(
      'The remote URL must not contain control characters or broken Unicode.',
    );
  }
  const [, scheme, rest] = schemePattern.exec(text) ?? [];
  if (scheme !== undefined && rest !== undefined) return readUrl(scheme.toLowerCase(), rest);
  if (helperPattern.test(text)) {
    throw new RemoteUrlError(
      'Remote helpers (name::address) are not supported; use an SSH or HTTPS URL.',
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

/** `file://server/share` is a network share. Without a server, or at `localhost`, it is a path. */
function readFileUrl(location: string): string {
  const local = location.replace(/^localhost(?=\/)/i, '');
  if (local.startsWith('/') || drivePattern.test(local)) return readLocalPath(local);
  return readUrl('', local);
}

function isLocalPath(text: string): boolean {
  return /^[/\\~]/.test(text) || drivePattern.test(text);
}

function readLocalPath(text: string): string {
  // POSIX paths may contain backslashes; paths that begin like a Windows path mean slashes.
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
      'The remote URL begins with credentials; add its scheme (https:// or ssh://).',
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
    throw new RemoteUrlError('The remote is a relative path; use the absolute path.');
  }
  if (!text.includes('/')) {
    throw new RemoteUrlError('The remote URL must be a URL or an absolute path.');
  }
  return readUrl('https', text);
}

/** Returns `host` or `host:port` in lower case, without the default port. */
function readHost(text: string, defaultPort: number | undefined): string {
  const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text) ?? [];
  if (port !== '' && !(/^\d{1,5}$/.test(port) && Number(port) <= PORT_MAX && Number(port) > 0)) {
    throw new RemoteUrlError(
      'The port of the remote URL must be a number from 1 to 65535; the form host:path has no ' +
        'scheme.',
    );
  }
  const name = host.startsWith('[') ? host : host.replace(/\.$/, '');
  const valid = name.startsWith('[') ? ipv6Pattern.test(name) : hostPattern.test(name);
  // Git rejects the dash as well: `ssh` would read such a host as an option.
  if (!valid || name.startsWith('-')) {
    throw new RemoteUrlError('The host of the remote URL is invalid.');
  }
  const portPart = port === '' || Number(port) === defaultPort ? '' : `:${Number(port)}`;
  return name.toLowerCase() + portPart;
}

function joinName(host: string, path: string): string {
  const shortened = shortenPath(path.replace(/^\/+/, ''));
  if (shortened === '') throw pathMissing();
  return `${host}/${shortened.toLowerCase()}`;
}

/** Also drops `.git` as a directory: `/srv/api/.git` is the repository of `/srv/api`. */
function shortenPath(path: string): string {
  return path
    .replace(/[\s/]+$/, '')
    .replace(/\.git$/i, '')
    .replace(/[\s/]+$/, '');
}

function pathMissing(): RemoteUrlError {
  return new RemoteUrlError('The remote URL has a host but no path to a repository.');
}

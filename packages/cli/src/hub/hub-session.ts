import { VERSION } from '@signalbox/contract/version';
import { type Client, createClient } from '@signalbox/sdk';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../terminal/io.ts';
import { type Login, readLogins } from './credentials.ts';
import { readToken } from './token-variable.ts';

/** The default address of `signalbox serve`. */
const URL_DEFAULT = 'http://127.0.0.1:4400';

/** The options that select a hub, common to all commands that talk to one. */
export interface HubChoice {
  url?: string;
  workspace?: string;
}

/** A workspace of a hub, with a client and token to use it. */
export interface HubSession {
  client: Client;
  baseUrl: string;
  token: string | undefined;
  workspaceId: string;
  /** Null when the workspace is known from the token only and has no slug. */
  workspaceSlug: string | null;
  /** The stored login; null when the token comes from the environment. */
  login: Login | null;
}

export interface HubPlace {
  baseUrl: string;
  token: string | undefined;
  workspaceSlug: string | undefined;
  login: Login | null;
  /** The hub of the current login, if no hub was named; null: one was, or there is no login. */
  currentUrl: string | null;
}

/** Creates a client that identifies this program in its User-Agent header, and ends with it. */
export function createHubClient(
  { signal }: Pick<Io, 'signal'>,
  baseUrl: string,
  token: string | undefined,
): Client {
  return createClient({ baseUrl, token, signal, userAgent: `signalbox-cli/${VERSION}` });
}

/**
 * Selects hub, workspace and token: options take precedence over the environment, and both over the
 * stored logins, of which the current one comes first.
 */
export async function choosePlace(io: Io, choice: HubChoice): Promise<HubPlace> {
  const { SIGNALBOX_URL, SIGNALBOX_WORKSPACE } = io.env;
  const token = readToken(io.env);
  const url = normalizeUrl(choice.url ?? (SIGNALBOX_URL || undefined));
  const slug = choice.workspace ?? (SIGNALBOX_WORKSPACE || undefined);
  const logins = await readLogins(io.env);
  const login = logins.find(
    (known) =>
      (url === undefined || known.url === url) &&
      (slug === undefined || known.workspaceSlug === slug),
  );
  const baseUrl = url ?? login?.url ?? URL_DEFAULT;
  const currentUrl = url === undefined ? (logins[0]?.url ?? null) : null;
  if (token !== undefined) return { baseUrl, token, workspaceSlug: slug, login: null, currentUrl };
  return {
    baseUrl,
    currentUrl,
    token: login?.token,
    workspaceSlug: slug ?? login?.workspaceSlug,
    login: login ?? null,
  };
}

/**
 * Opens the session for a command.
 * @throws {CliError} NOT_LOGGED_IN; {ApiError} WORKSPACE_NOT_FOUND and others.
 */
export async function openHubSession(io: Io, choice: HubChoice): Promise<HubSession> {
  const { baseUrl, token, workspaceSlug, login, currentUrl } = await choosePlace(io, choice);
  if (token === undefined) refuseWithoutLogin(workspaceSlug, currentUrl);
  const client = createHubClient(io, baseUrl, token);
  const common = { client, baseUrl, token, login };
  if (login !== null) {
    return { ...common, workspaceId: login.workspaceId, workspaceSlug: login.workspaceSlug };
  }
  if (workspaceSlug === undefined) return { ...common, ...(await askWorkspace(client)) };
  const { workspaceId } = await client.workspaces.resolve({ slug: workspaceSlug });
  if (workspaceId === null) throw unknownWorkspace(workspaceSlug);
  return { ...common, workspaceId, workspaceSlug };
}

/**
 * A workspace without a login is an error if this machine has logins: the person means another hub
 * or workspace. A machine without any may use a hub in development mode, which needs none.
 */
function refuseWithoutLogin(slug: string | undefined, currentUrl: string | null): void {
  if (slug !== undefined && currentUrl === null) return;
  const where = slug === undefined ? '' : ` to the workspace "${slug}"`;
  const message = `This machine is not logged in${where}.`;
  const url = currentUrl === null ? '' : ` --url ${currentUrl}`;
  throw new CliError(exitCodes.unauthorized, 'NOT_LOGGED_IN', message, {
    fix: `signalbox login --workspace ${slug ?? 'SLUG'}${url}`,
  });
}

async function askWorkspace(client: Client) {
  const { workspaceId, workspaceSlug } = await client.tokens.whoami();
  if (workspaceId !== null) return { workspaceId, workspaceSlug };
  throw new CliError(
    exitCodes.usage,
    'WORKSPACE_MISSING',
    'The token is not bound to one workspace.',
    { fix: 'Add --workspace SLUG, or set SIGNALBOX_WORKSPACE.' },
  );
}

function unknownWorkspace(slug: string): CliError {
  return new CliError(
    exitCodes.refused,
    'WORKSPACE_NOT_FOUND',
    `The workspace "${slug}" does not exist on this hub, or the token has no access to it.`,
    { fix: `signalbox login --workspace ${slug}` },
  );
}

/**
 * The slug of the workspace, for addresses of the console.
 * @throws {CliError} WORKSPACE_MISSING: the token is not bound to one workspace.
 */
export async function requireWorkspaceSlug({ client, workspaceSlug }: HubSession): Promise<string> {
  const slug = workspaceSlug ?? (await askWorkspace(client)).workspaceSlug;
  if (slug !== null) return slug;
  const message = 'The slug of the workspace is not known.';
  throw new CliError(exitCodes.usage, 'WORKSPACE_MISSING', message, {
    fix: 'Add --workspace SLUG, or set SIGNALBOX_WORKSPACE.',
  });
}

/** @throws {CliError} USAGE: the text is not a hub URL. */
export function normalizeUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  // People often omit the scheme. Local hubs rarely have a certificate.
  const isLocal = /^(localhost|127\.|\[::1\])/.test(text);
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http${isLocal ? '' : 's'}://${text}`;
  const url = URL.parse(full);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '') {
    throw new CliError(
      exitCodes.usage,
      'USAGE',
      `"${text}" is not a hub URL. It must have the form https://signalbox.acme.dev.`,
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

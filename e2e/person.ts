import type { BrowserContext } from 'playwright-core';
import type { HubProcess } from './hub-process.ts';

/** The owner that scenarios make where making one is not what they are about. */
export const owner = {
  name: 'Ada Lovelace',
  email: 'ada@acme.example',
  password: 'copper lantern orbit mosaic',
  workspaceName: 'Acme Works',
  workspaceSlug: 'acme',
} as const;

/** A person with a console session. */
export interface SignedIn {
  readonly baseUrl: string;
  /** `name=value` of the session cookie. */
  readonly cookie: string;
  readonly workspaceId: string;
}

/** Calls the console's own endpoints as its pages do. @throws when the hub refuses. */
export async function callConsole(
  baseUrl: string,
  path: string,
  body: object,
  cookie = '',
): Promise<{ answer: Record<string, unknown>; cookie: string }> {
  const response = await fetch(`${baseUrl}/console-api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: baseUrl, cookie },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  if (answer.ok !== true) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return { answer, cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie };
}

/** Makes the first owner and workspace by the printed link, without a browser. */
export async function makeOwner(hub: HubProcess): Promise<SignedIn> {
  const linkToken = hub.firstOwnerUrl?.split('#token=')[1];
  const made = await callConsole(hub.baseUrl, 'first-owner/create', { linkToken, ...owner });
  return readSession(hub.baseUrl, made);
}

/** Signs the owner in once more: another session of the same person. */
export async function signIn(
  baseUrl: string,
  { email, password }: { email: string; password: string } = owner,
): Promise<SignedIn> {
  return readSession(baseUrl, await callConsole(baseUrl, 'session/sign-in', { email, password }));
}

/** Makes another person of the workspace, by an invitation. */
export async function joinWorkspace(
  inviter: SignedIn,
  name: string,
  role: 'viewer' | 'member' | 'admin',
): Promise<SignedIn> {
  const { baseUrl, cookie, workspaceId } = inviter;
  const draft = { workspaceId, email: `${role}-${workspaceId}@acme.example`, role };
  const { answer } = await callConsole(baseUrl, 'invitations/create', draft, cookie);
  const linkToken = String(answer.invitationUrl).split('#token=')[1];
  const account = { linkToken, name, password: owner.password };
  const joined = await callConsole(baseUrl, 'invitations/accept', account);
  return { baseUrl, workspaceId, cookie: joined.cookie };
}

function readSession(
  baseUrl: string,
  { answer, cookie }: { answer: Record<string, unknown>; cookie: string },
): SignedIn {
  // The hub's answers are held to their schema by its own tests.
  const [workspace] = answer.workspaces as { workspaceId: string }[];
  return { baseUrl, cookie, workspaceId: workspace?.workspaceId ?? '' };
}

/** Gives a browser profile the session of a person who has signed in without it. */
export async function lendSession(context: BrowserContext, person: SignedIn): Promise<void> {
  const [name = '', value = ''] = person.cookie.split('=');
  await context.addCookies([{ name, value, url: person.baseUrl, httpOnly: true, sameSite: 'Lax' }]);
}

// The person of the demo, at the console: its own endpoints, over HTTP, with its session cookie.
import { randomBytes } from 'node:crypto';
import { consoleEndpoints, consolePathOf, mirroredEndpoints } from '@signalbox/contract';
import { type ClientOf, createClientOf } from '@signalbox/sdk';

const consoleTable = { ...consoleEndpoints, ...mirroredEndpoints } as const;

/** The console's view of a hub, with the cookies of one browser. */
export type ConsoleClient = ClientOf<typeof consoleTable>;

/** A signed-in person. */
export interface Owner {
  console: ConsoleClient;
  workspaceId: string;
  personId: string;
  /** With these a person can sign in too. */
  email: string;
  password: string;
}

export function openConsole(baseUrl: string): ConsoleClient {
  const fetch = createBrowserFetch(baseUrl);
  return createClientOf(consoleTable, { baseUrl, fetch, pathOf: consolePathOf });
}

/** Uses the one-time link that the hub has printed. */
export async function makeOwner(
  { url, firstOwnerUrl }: { url: string; firstOwnerUrl: string },
  workspaceSlug: string,
): Promise<Owner> {
  const console = openConsole(url);
  const [email, password] = ['ada@demo.test', makePassword()];
  const { person, workspaces } = await console.firstOwner.create({
    linkToken: linkTokenOf(firstOwnerUrl),
    workspaceSlug,
    workspaceName: 'Demo',
    email,
    name: 'Ada Novak',
    password,
  });
  const workspaceId = workspaces[0]?.workspaceId;
  if (person === null || workspaceId === undefined) throw new Error('The owner has no workspace.');
  return { console, workspaceId, personId: person.personId, email, password };
}

/** The secret of a one-time link, which is behind the `#`. */
export function linkTokenOf(url: string): string {
  const token = new URLSearchParams(new URL(url).hash.slice(1)).get('token');
  if (token === null) throw new Error('The link holds no token.');
  return token;
}

/** 64 random bits, in groups that a person can type. */
export function makePassword(): string {
  return (randomBytes(8).toString('hex').match(/.{4}/g) ?? []).join('-');
}

/** Approves a device as the approval page does after a person has typed the code. */
export async function approveDevice(
  { console }: Owner,
  { deviceId, userCode }: { deviceId: string; userCode: string },
): Promise<void> {
  await console.deviceApprovals.open({ deviceId });
  await console.deviceApprovals.answer({ deviceId, userCode, decision: 'approve' });
}

/** Keeps cookies and says where a request comes from, as a browser does. */
function createBrowserFetch(baseUrl: string): typeof fetch {
  const cookies = new Map<string, string>();
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('origin', new URL(baseUrl).origin);
    headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(input, { ...init, headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=;]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
}

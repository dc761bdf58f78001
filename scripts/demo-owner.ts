// The person of the demo, at the console: its own endpoints, over HTTP, with its session cookie.
import { randomBytes } from 'node:crypto';
import { consoleEndpoints } from '@signalbox/contract';
import { type ClientOf, createClientOf } from '@signalbox/sdk';
import type { RunningHub } from './demo-processes.ts';

/** A signed-in person. */
export interface Owner {
  console: ClientOf<typeof consoleEndpoints>;
}

/** Uses the one-time link that the hub has printed. */
export async function makeOwner(hub: RunningHub, workspaceSlug: string): Promise<Owner> {
  const console = createClientOf(consoleEndpoints, {
    baseUrl: hub.url,
    fetch: createBrowserFetch(hub.url),
  });
  const linkToken = new URLSearchParams(new URL(hub.firstOwnerUrl).hash.slice(1)).get('token');
  if (linkToken === null) throw new Error('The first-owner link of the hub holds no token.');
  await console.firstOwner.create({
    ...{ linkToken, workspaceSlug, workspaceName: 'Demo' },
    email: 'owner@demo.test',
    name: 'Demo owner',
    password: randomBytes(18).toString('base64url'),
  });
  return { console };
}

/** What the approval page does when a person has typed the code of the terminal. */
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

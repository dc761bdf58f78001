import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, redirect } from '@tanstack/react-router';
import { sessionQuery } from '../api/session-queries.ts';

export const rootRoute = createRootRouteWithContext<{ client: QueryClient }>()({});

/** Returns the cached session; reads it the first time. */
export function readSession(client: QueryClient) {
  return client.query({ ...sessionQuery(), staleTime: 'static' });
}

/** Guards pages that need a session: redirects to sign-in, and back afterwards. */
export async function requireSession(client: QueryClient, href: string) {
  const session = await readSession(client);
  if (session.person === null) {
    throw redirect({ to: '/sign-in', search: { return: href }, replace: true });
  }
  const { person, workspaces, workspaceRefusal } = session;
  return { person, workspaces, workspaceRefusal };
}

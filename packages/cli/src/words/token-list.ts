import type { DeviceToken, ServiceToken } from '@signalbox/contract';
import { ApiError } from '@signalbox/sdk';
import type { HubSession } from '../hub/hub-session.ts';
import { collectPages } from '../terminal/pages.ts';

/** The tokens that a person may see. */
export interface TokenList {
  /** Null: only owners and admins see them. */
  serviceTokens: ServiceToken[] | null;
  /** Of all members for owners and admins, of the person for others. */
  deviceTokens: DeviceToken[];
}

export async function readTokens(session: HubSession): Promise<TokenList> {
  const { client, workspaceId } = session;
  const machines = (of: 'me' | 'everybody') =>
    collectPages(Infinity, 'tokens', (page) =>
      client.deviceTokens.list({ workspaceId, of, ...page }),
    );
  try {
    const { rows } = await collectPages(Infinity, 'tokens', (page) =>
      client.serviceTokens.list({ workspaceId, ...page }),
    );
    return { serviceTokens: rows, deviceTokens: (await machines('everybody')).rows };
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'NOT_ALLOWED')) throw error;
    return { serviceTokens: null, deviceTokens: (await machines('me')).rows };
  }
}

import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { type FailureCode, HubError } from './hub-error.ts';

const RETRIES_MAX = 2;
/** Failures that may be temporary. */
const passing: readonly FailureCode[] = ['UNREACHABLE', 'UNAVAILABLE', 'RATE_LIMITED'];

/**
 * Creates the cache of all queries. `onSessionEnd` is called when any call learns from the hub that
 * the session is over (signed out elsewhere, expired).
 */
export function createQueryClient(onSessionEnd: () => void): QueryClient {
  const onError = (error: unknown) => {
    if (error instanceof HubError && error.code === 'SESSION_REQUIRED') onSessionEnd();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      // The hub is often on this machine or network, where it answers although the browser
      // believes to be offline. The default, 'online', would pause every call without a word.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        staleTime: 2_000,
        retry: (failures, error) =>
          failures < RETRIES_MAX && error instanceof HubError && passing.includes(error.code),
      },
    },
  });
}

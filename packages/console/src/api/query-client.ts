import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { type FailureCode, HubError } from './hub-error.ts';

const RETRIES_MAX = 2;
/** Only these may go away by themselves. */
const passing: readonly FailureCode[] = ['UNREACHABLE', 'UNAVAILABLE', 'RATE_LIMITED'];

/**
 * The cache of everything read. `onSessionEnd` is told when the hub says that the session is over
 * (signed out elsewhere, expired), from whichever call learned it.
 */
export function createQueryClient(onSessionEnd: () => void): QueryClient {
  const onError = (error: unknown) => {
    if (error instanceof HubError && error.code === 'SESSION_REQUIRED') onSessionEnd();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        retry: (failures, error) =>
          failures < RETRIES_MAX && error instanceof HubError && passing.includes(error.code),
      },
    },
  });
}

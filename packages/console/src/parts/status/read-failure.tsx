import { hasCode } from '../../api/hub-error.ts';
import { useLiveState } from '../../live/live-state.ts';
import { Button } from '../form/button.tsx';
import { ErrorNotice } from './error-notice.tsx';

interface Read {
  error: unknown;
  /** The earlier answer, if there is one. */
  data: unknown;
  isFetching: boolean;
  refetch: () => unknown;
}

/**
 * Says why a read failed, and reads again. While the connection is lost, data that were read before
 * stay as they are: the banner of the shell explains it once, and nothing moves.
 */
export function ReadFailure({ read }: { read: Read }) {
  const isLost = useLiveState().kind === 'lost';
  if (!read.error) return null;
  const isNoAnswer = hasCode(read.error, 'UNREACHABLE', 'UNAVAILABLE', 'ANSWER_UNREADABLE');
  if (isLost && isNoAnswer && read.data !== undefined) return null;
  return (
    <ErrorNotice
      error={read.error}
      action={
        <Button busy={read.isFetching} onClick={() => read.refetch()}>
          Try again
        </Button>
      }
    />
  );
}

import { useMutation } from '@tanstack/react-query';
import { callHub } from '../../api/hub-call.ts';
import { Button } from '../form/button.tsx';

interface ConnectSlackButtonProps {
  workspaceId: string;
  onCode: (code: string) => void;
  /** With a sentence when there is no code; with null before each attempt. */
  onFault: (fault: string | null) => void;
}

/** Gets the code by which the person connects their account of Slack. */
export function ConnectSlackButton({ workspaceId, onCode, onFault }: ConnectSlackButtonProps) {
  const connect = useMutation({
    mutationFn: () => callHub('notificationChannels', 'connectSlack', { workspaceId }),
    onMutate: () => onFault(null),
    onSuccess: ({ code }) => onCode(code),
    onError: (error) => onFault(error.message),
  });
  return (
    <Button busy={connect.isPending} onClick={() => connect.mutate()}>
      Connect Slack
    </Button>
  );
}

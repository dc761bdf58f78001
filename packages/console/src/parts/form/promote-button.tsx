import { useMutation, useQueryClient } from '@tanstack/react-query';
import { decisionQuery } from '../../api/decision-queries.ts';
import { callHub } from '../../api/hub-call.ts';
import { ActionButton } from './action-button.tsx';

interface PromoteButtonProps {
  workspaceId: string;
  uncertaintyId: string;
  disabledReason: string | undefined;
}

/** Puts a question whose assumed value applies into everybody's inbox. */
export function PromoteButton({ workspaceId, uncertaintyId, disabledReason }: PromoteButtonProps) {
  const client = useQueryClient();
  const promote = useMutation({
    mutationFn: () => callHub('uncertainties', 'promote', { workspaceId, uncertaintyId }),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries(decisionQuery(workspaceId, uncertaintyId)),
        client.invalidateQueries({ queryKey: ['uncertainties', workspaceId] }),
        client.invalidateQueries({ queryKey: ['uncertainty-counts', workspaceId] }),
      ]),
  });
  return (
    <ActionButton
      busy={promote.isPending}
      disabledReason={disabledReason}
      className="h-9 max-sm:w-full"
      onClick={() => promote.mutate()}
    >
      {promote.isError ? 'Not put in the inbox, try again' : 'Put in the inbox'}
    </ActionButton>
  );
}

import type { Membership, WorkspaceRole } from '@signalbox/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import { type Member, membersQuery } from '../../api/settings-queries.ts';
import { roleOptions, roleWords } from '../../format/role-words.ts';
import { plainText } from '../../format/text.ts';
import { Modal } from '../dialog/dialog.tsx';
import { showToast } from '../dialog/toast.ts';
import { Button } from '../form/button.tsx';
import { ErrorNotice } from '../status/error-notice.tsx';
import { CheckField, SelectInput } from './controls.tsx';

interface MemberDialogProps {
  member: Member;
  membership: Membership;
  onClose: () => void;
}

/** Roles that may mint service tokens; a member who loses such a role leaves tokens behind. */
const minting: readonly WorkspaceRole[] = ['owner', 'admin'];

/** Changes a member's role, or removes the member. */
export function MemberDialog({ member, membership, onClose }: MemberDialogProps) {
  const { workspaceId, role: ownRole } = membership;
  const client = useQueryClient();
  const [role, setRole] = useState<WorkspaceRole>(member.role);
  const [isRemoving, setRemoving] = useState(false);
  const [revokeServiceTokens, setRevokes] = useState(true);
  const { personId, name } = member;
  const change = useMutation({
    mutationFn: async () => {
      const ref = { workspaceId, personId, revokeServiceTokens };
      const answer = isRemoving
        ? await callHub('members', 'remove', ref)
        : await callHub('members', 'changeRole', { ...ref, role });
      return answer.serviceTokens;
    },
    onSuccess: async (serviceTokens) => {
      await client.invalidateQueries({ queryKey: membersQuery(workspaceId).queryKey });
      const revoked = serviceTokens.filter((token) => token.revoked).length;
      const done = isRemoving ? 'was removed' : `is ${roleWords[role].withArticle} now`;
      showToast({
        title: `${plainText(name)} ${done}`,
        ...(revoked > 0 && { detail: `${revoked} service tokens were revoked.` }),
      });
      onClose();
    },
  });
  const losesTokens = minting.includes(member.role) && (isRemoving || !minting.includes(role));
  const options = roleOptions.filter(({ value }) => value !== 'owner' || ownRole === 'owner');
  return (
    <Modal
      open
      onOpenChange={(open) => !open && onClose()}
      title={plainText(name)}
      description={plainText(member.email)}
    >
      {change.isError && <ErrorNotice error={change.error} />}
      <SelectInput
        label="Role"
        options={options}
        value={role}
        disabled={isRemoving}
        hint={roleWords[role].may}
        onChange={(event) => {
          const next = roleOptions.find(({ value }) => value === event.target.value);
          if (next) setRole(next.value);
        }}
      />
      <CheckField
        label="Remove from this workspace"
        hint="Their machines are logged out and their open invitations end. Their account stays."
        checked={isRemoving}
        onChange={setRemoving}
      />
      {losesTokens && (
        <CheckField
          label="Revoke the service tokens that they minted"
          hint="Somebody who knows such a token could keep using it."
          checked={revokeServiceTokens}
          onChange={setRevokes}
        />
      )}
      <div className="mt-1 flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          look={isRemoving ? 'danger' : 'primary'}
          busy={change.isPending}
          disabled={!isRemoving && role === member.role}
          onClick={() => change.mutate()}
        >
          {isRemoving ? 'Remove' : 'Change the role'}
        </Button>
      </div>
    </Modal>
  );
}

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import {
  type Invitation,
  invitationsQuery,
  type Member,
  membersQuery,
} from '../../api/settings-queries.ts';
import { roleOptions, roleWords } from '../../format/role-words.ts';
import { plainText } from '../../format/text.ts';
import { formatAbsolute } from '../../format/time.ts';
import { showToast } from '../../parts/dialog/toast.ts';
import { ActionButton, adminReason } from '../../parts/form/action-button.tsx';
import { ConfirmButton } from '../../parts/form/confirm-button.tsx';
import { TextField } from '../../parts/form/field.tsx';
import { FieldsForm } from '../../parts/form/fields-form.tsx';
import { findAddressFault, foundFaults, useFormFields } from '../../parts/form/form-fields.ts';
import { usePageTitle } from '../../parts/page/page-title.ts';
import { SelectInput } from '../../parts/settings/controls.tsx';
import { MemberDialog } from '../../parts/settings/member-dialog.tsx';
import { Mark, RecordRows, Row, Section, Sheet } from '../../parts/settings/section.tsx';
import { ShownOnce } from '../../parts/settings/shown-once.tsx';
import { Moment } from '../../parts/text/relative-time.tsx';

const workspace = getRouteApi('/w/$slug');

/** The people of a workspace: invite them, change their roles, remove them. */
export function MembersPage() {
  const { membership } = workspace.useRouteContext();
  usePageTitle(`Members · ${membership.name}`);
  return (
    <>
      <MemberList />
      <Invitations />
    </>
  );
}

function MemberList() {
  const { membership, person } = workspace.useRouteContext();
  const [chosen, setChosen] = useState<Member | null>(null);
  const query = useQuery(membersQuery(membership.workspaceId));
  return (
    <Section title="Members" description="Everyone who can open this workspace.">
      <RecordRows what="the members" query={query} label="Members" items={({ members }) => members}>
        {(member) => (
          <Row
            key={member.personId}
            title={
              <>
                {plainText(member.name)}
                {member.personId === person.personId && <Mark>you</Mark>}
              </>
            }
            facts={[
              plainText(member.email),
              member.role,
              <Moment key="joined" word="joined" at={member.joinedAt} />,
              member.absentUntil !== null &&
                `out of office until ${formatAbsolute(member.absentUntil)}`,
            ]}
            action={
              <ActionButton
                disabledReason={reasonNotToHandle(membership.role, member)}
                aria-label={`Change ${plainText(member.name)}`}
                onClick={() => setChosen(member)}
              >
                Change
              </ActionButton>
            }
          />
        )}
      </RecordRows>
      {chosen && (
        <MemberDialog member={chosen} membership={membership} onClose={() => setChosen(null)} />
      )}
    </Section>
  );
}

function reasonNotToHandle(role: string, member: Member): string | undefined {
  return member.role === 'owner' && role === 'admin'
    ? 'Only owners may change owners.'
    : adminReason(role);
}

function Invitations() {
  const { membership } = workspace.useRouteContext();
  const [isInviting, setInviting] = useState(false);
  const [link, setLink] = useState<{ url: string; email: string } | null>(null);
  const reason = adminReason(membership.role);
  return (
    <Section
      title="Invitations"
      description="The hub sends no mail: it shows a link, and you send it. A link works once, for 7 days."
      action={
        !isInviting && (
          <ActionButton look="primary" disabledReason={reason} onClick={() => setInviting(true)}>
            Invite a person
          </ActionButton>
        )
      }
    >
      {isInviting && (
        <InviteForm
          onCancel={() => setInviting(false)}
          onDone={(url, email) => {
            setInviting(false);
            setLink({ url, email });
          }}
        />
      )}
      {link && (
        <ShownOnce
          title={`The invitation of ${link.email}`}
          text={link.url}
          onDone={() => setLink(null)}
        >
          Send this link to the person. It is shown once; a new invitation replaces it.
        </ShownOnce>
      )}
      {reason === undefined && <InvitationList />}
    </Section>
  );
}

interface InviteFormProps {
  onCancel: () => void;
  onDone: (url: string, email: string) => void;
}

function InviteForm({ onCancel, onDone }: InviteFormProps) {
  const { membership } = workspace.useRouteContext();
  const client = useQueryClient();
  const { workspaceId } = membership;
  const invite = useMutation({
    mutationFn: ({ email, role }: { email: string; role: string }) => {
      const known = roleOptions.find(({ value }) => value === role)?.value ?? 'member';
      return callHub('invitations', 'create', { workspaceId, email: email.trim(), role: known });
    },
    onSuccess: async ({ invitationUrl, invitation }) => {
      await client.invalidateQueries({ queryKey: invitationsQuery(workspaceId).queryKey });
      onDone(invitationUrl, invitation.email);
    },
  });
  const fields = useFormFields({
    initial: { email: '', role: 'member' },
    check: ({ email }) => foundFaults({ email: findAddressFault(email) }),
    act: invite,
    fieldOfCode: { ALREADY_MEMBER: { name: 'email' } },
    send: (values) => invite.mutate(values),
  });
  const options = roleOptions.filter(
    ({ value }) => value !== 'owner' || membership.role === 'owner',
  );
  const chosen = roleOptions.find(({ value }) => value === fields.values.role);
  return (
    <Sheet>
      <FieldsForm fields={fields} submit="Create link" onCancel={onCancel}>
        <TextField
          label="E-mail address"
          type="email"
          maxLength={320}
          autoComplete="off"
          {...fields.bind('email')}
        />
        <SelectInput
          label="Role"
          options={options}
          hint={chosen && roleWords[chosen.value].may}
          {...fields.bind('role')}
        />
      </FieldsForm>
    </Sheet>
  );
}

function InvitationList() {
  const { membership } = workspace.useRouteContext();
  const query = useQuery(invitationsQuery(membership.workspaceId));
  return (
    <RecordRows
      what="the invitations"
      query={query}
      label="Open invitations"
      items={({ invitations }) => invitations}
      empty={<p className="text-sm text-muted">No open invitations.</p>}
    >
      {(invitation) => <InvitationRow key={invitation.invitationId} invitation={invitation} />}
    </RecordRows>
  );
}

function InvitationRow({ invitation }: { invitation: Invitation }) {
  const { membership } = workspace.useRouteContext();
  const { workspaceId } = membership;
  const client = useQueryClient();
  const { invitationId, email, role, invitedBy, expiresAt } = invitation;
  const revoke = async () => {
    await callHub('invitations', 'revoke', { workspaceId, invitationId });
    await client.invalidateQueries({ queryKey: invitationsQuery(workspaceId).queryKey });
    showToast({ title: `The link of ${email} is invalid now` });
  };
  return (
    <Row
      title={plainText(email)}
      facts={[
        role,
        <>by {plainText(invitedBy)}</>,
        <Moment key="ends" word="ends" at={expiresAt} />,
      ]}
      action={
        <ConfirmButton
          label="Revoke"
          of={`the invitation of ${plainText(email)}`}
          title="Revoke this invitation?"
          onConfirm={revoke}
        >
          The link stops working. You can invite the person again.
        </ConfirmButton>
      }
    />
  );
}

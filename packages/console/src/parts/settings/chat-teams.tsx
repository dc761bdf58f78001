import type { ChatTeam } from '@signalbox/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import { chatTeamsQuery } from '../../api/settings-queries.ts';
import { plainText } from '../../format/text.ts';
import { showToast } from '../dialog/toast.ts';
import { Button } from '../form/button.tsx';
import { ConfirmButton } from '../form/confirm-button.tsx';
import { TextField } from '../form/field.tsx';
import { FieldsForm } from '../form/fields-form.tsx';
import { foundFaults, useFormFields } from '../form/form-fields.ts';
import { EmptyState } from '../status/empty-state.tsx';
import { Moment, RelativeTime } from '../text/relative-time.tsx';
import { Mark, RecordRows, Row, Section, Sheet } from './section.tsx';

/** The chat teams whose messages come to the workspace. */
export function ChatTeams({ workspaceId }: { workspaceId: string }) {
  const query = useQuery(chatTeamsQuery(workspaceId));
  const [isAdding, setAdding] = useState(false);
  return (
    <Section
      title="Chat teams"
      description="Messages of a chat team become context and events of this workspace."
      action={
        !isAdding && (
          <Button look="primary" onClick={() => setAdding(true)}>
            Add a team
          </Button>
        )
      }
    >
      {isAdding && <TeamForm workspaceId={workspaceId} onClose={() => setAdding(false)} />}
      <RecordRows
        what="the chat teams"
        query={query}
        label="Chat teams"
        items={({ chatTeams }) => chatTeams}
        empty={
          <EmptyState
            icon="globe"
            title="No chat teams yet"
            guide="/docs/guides/events-and-triggers"
          >
            Begin with “Add a team”. A person of the team then posts a code in the chat, which
            proves that the team agrees.
          </EmptyState>
        }
      >
        {(team) => (
          <TeamRow key={`${team.teamId} ${team.status}`} workspaceId={workspaceId} team={team} />
        )}
      </RecordRows>
    </Section>
  );
}

function TeamRow({ workspaceId, team }: { workspaceId: string; team: ChatTeam }) {
  const client = useQueryClient();
  const { teamId, confirmation } = team;
  const name = plainText(team.name || teamId);
  const remove = async () => {
    await callHub('chatTeams', 'remove', { workspaceId, teamId });
    await client.invalidateQueries(chatTeamsQuery(workspaceId));
    showToast({ title: `${name} is removed` });
  };
  return (
    <Row
      title={
        <>
          {name}
          {confirmation !== null && <Mark>waiting</Mark>}
        </>
      }
      facts={[
        teamId,
        confirmation === null ? (
          <Moment key="added" word="added" at={team.createdAt} />
        ) : (
          <>
            post <code>{confirmation.code}</code> in the chat, it ends{' '}
            <RelativeTime at={confirmation.expiresAt} />
          </>
        ),
      ]}
      action={
        <ConfirmButton label="Remove" of={name} title={`Remove ${name}?`} onConfirm={remove}>
          Later messages of the team are ignored. What came from it stays.
        </ConfirmButton>
      }
    />
  );
}

function TeamForm({ workspaceId, onClose }: { workspaceId: string; onClose: () => void }) {
  const client = useQueryClient();
  const add = useMutation({
    mutationFn: ({ teamId, name }: { teamId: string; name: string }) =>
      callHub('chatTeams', 'put', { workspaceId, teamId: teamId.trim(), name: name.trim() }),
    onSuccess: async () => {
      await client.invalidateQueries(chatTeamsQuery(workspaceId));
      onClose();
    },
  });
  const fields = useFormFields({
    initial: { teamId: '', name: '' },
    check: ({ teamId }) =>
      foundFaults({
        teamId: /^[A-Z0-9]{1,100}$/.test(teamId.trim())
          ? undefined
          : 'Enter the ID of the team, such as T024BE7LD.',
      }),
    act: add,
    send: (values) => add.mutate(values),
  });
  return (
    <Sheet>
      <FieldsForm fields={fields} submit="Add the team" onCancel={onClose}>
        <TextField
          label="Team ID"
          hint="The chat shows it in the address of its web page, such as T024BE7LD."
          autoComplete="off"
          {...fields.bind('teamId')}
        />
        <TextField label="Team name" maxLength={200} {...fields.bind('name')} required={false} />
      </FieldsForm>
    </Sheet>
  );
}

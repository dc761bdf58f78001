import type { IntegrationSecret } from '@signalbox/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import { integrationSecretsQuery } from '../../api/settings-queries.ts';
import { plainText } from '../../format/text.ts';
import { showToast } from '../dialog/toast.ts';
import { Button } from '../form/button.tsx';
import { ConfirmButton } from '../form/confirm-button.tsx';
import { TextField } from '../form/field.tsx';
import { FieldsForm } from '../form/fields-form.tsx';
import { findEmptyFault, foundFaults, useFormFields } from '../form/form-fields.ts';
import { EmptyState } from '../status/empty-state.tsx';
import { Moment } from '../text/relative-time.tsx';
import { RecordRows, Row, Section, Sheet } from './section.tsx';
import { ShownOnce } from './shown-once.tsx';

/** The secrets with which other systems send events. */
export function IntegrationSecrets({ workspaceId }: { workspaceId: string }) {
  const query = useQuery(integrationSecretsQuery(workspaceId));
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<{ name: string; secret: string } | null>(null);
  return (
    <Section
      title="Secrets for events"
      description="A system, such as a tracker or CI, sends events to this workspace with its secret."
      action={
        !isMaking && (
          <Button look="primary" onClick={() => setMaking(true)}>
            New secret
          </Button>
        )
      }
    >
      {isMaking && (
        <SecretForm
          workspaceId={workspaceId}
          onCancel={() => setMaking(false)}
          onDone={(name, secret) => {
            setMaking(false);
            setMade({ name, secret });
          }}
        />
      )}
      {made && (
        <ShownOnce
          title={`The secret of ${plainText(made.name)}`}
          text={made.secret}
          onDone={() => setMade(null)}
        >
          The system sends it in the header x-svc-integration-event-secret. It is shown once; the
          hub keeps its hash only.
        </ShownOnce>
      )}
      <RecordRows
        what="the secrets"
        query={query}
        label="Secrets for events"
        items={({ integrationSecrets }) => integrationSecrets}
        empty={
          <EmptyState icon="key-round" title="No secrets yet">
            Begin with “New secret”, and give it to the system that sends events.
          </EmptyState>
        }
      >
        {(secret) => <SecretRow key={secret.secretId} workspaceId={workspaceId} secret={secret} />}
      </RecordRows>
    </Section>
  );
}

function SecretRow({ workspaceId, secret }: { workspaceId: string; secret: IntegrationSecret }) {
  const client = useQueryClient();
  const name = plainText(secret.name);
  const revoke = async () => {
    await callHub('integrationSecrets', 'revoke', { workspaceId, secretId: secret.secretId });
    await client.invalidateQueries(integrationSecretsQuery(workspaceId));
    showToast({ title: `The secret of ${name} is revoked` });
  };
  return (
    <Row
      title={name}
      facts={[
        <Moment key="made" word="made" at={secret.createdAt} />,
        <Moment key="used" word="used" at={secret.lastUsedAt} never="never used" />,
      ]}
      action={
        <ConfirmButton
          label="Revoke"
          of={`the secret of ${name}`}
          title={`Revoke the secret of ${name}?`}
          onConfirm={revoke}
        >
          Events with it are refused at once.
        </ConfirmButton>
      }
    />
  );
}

interface SecretFormProps {
  workspaceId: string;
  onCancel: () => void;
  onDone: (name: string, secret: string) => void;
}

function SecretForm({ workspaceId, onCancel, onDone }: SecretFormProps) {
  const client = useQueryClient();
  const mint = useMutation({
    mutationFn: ({ name }: { name: string }) =>
      callHub('integrationSecrets', 'mint', { workspaceId, name: name.trim() }),
    onSuccess: async ({ integrationSecret, secret }) => {
      await client.invalidateQueries(integrationSecretsQuery(workspaceId));
      onDone(integrationSecret.name, secret);
    },
  });
  const fields = useFormFields({
    initial: { name: '' },
    check: ({ name }) => foundFaults({ name: findEmptyFault(name, 'the name of the system') }),
    act: mint,
    send: (values) => mint.mutate(values),
  });
  return (
    <Sheet>
      <FieldsForm fields={fields} submit="Create secret" onCancel={onCancel}>
        <TextField
          label="System"
          hint="The system that uses it, such as tracker."
          maxLength={80}
          autoComplete="off"
          {...fields.bind('name')}
        />
      </FieldsForm>
    </Sheet>
  );
}

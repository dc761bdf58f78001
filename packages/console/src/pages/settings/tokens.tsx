import type { ResponseOf, Scope, ServiceToken } from '@signalbox/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { type ConsoleRows, callHub } from '../../api/hub-call.ts';
import { serviceTokensQuery } from '../../api/settings-queries.ts';
import { plainText } from '../../format/text.ts';
import { showToast } from '../../parts/dialog/toast.ts';
import { ActionButton, adminReason } from '../../parts/form/action-button.tsx';
import { ConfirmButton } from '../../parts/form/confirm-button.tsx';
import { TextField } from '../../parts/form/field.tsx';
import { FieldsForm } from '../../parts/form/fields-form.tsx';
import { findEmptyFault, foundFaults, useFormFields } from '../../parts/form/form-fields.ts';
import { usePageTitle } from '../../parts/page/page-title.ts';
import { CheckField, SelectInput } from '../../parts/settings/controls.tsx';
import { RecordRows, Row, Section, Sheet } from '../../parts/settings/section.tsx';
import { ShownOnce } from '../../parts/settings/shown-once.tsx';
import { EmptyState } from '../../parts/status/empty-state.tsx';
import { Moment, RelativeTime } from '../../parts/text/relative-time.tsx';

const workspace = getRouteApi('/w/$slug');
const DAY_MS = 24 * 60 * 60 * 1_000;

type Minted = ResponseOf<ConsoleRows['serviceTokens']['mint']>;

const scopeWords: Readonly<Record<Scope, { word: string; may: string }>> = {
  agent: { word: 'Agent', may: 'Run an agent: claim jobs, report and complete them.' },
  enqueue: { word: 'Enqueue', may: 'Enqueue, cancel, retry and release jobs.' },
  read: { word: 'Read', may: 'Read jobs, runs, agents and context.' },
  decide: { word: 'Decide', may: 'Answer questions of agents, as a person would.' },
  integrate: { word: 'Integrate', may: 'Send events and context in.' },
};
// The record has every scope, and nothing else.
const scopes = Object.keys(scopeWords) as Scope[];
/** The scopes of a token by default: all but answering questions. */
const scopesDefault = scopes.filter((scope) => scope !== 'decide');

const lifetimes = [
  { value: '30', word: '30 days' },
  { value: '90', word: '90 days' },
  { value: '365', word: '1 year' },
];

/** Tokens for programs: CI, integrations, agents on shared machines. */
export function TokensPage() {
  const { membership } = workspace.useRouteContext();
  usePageTitle(`Service tokens · ${membership.name}`);
  const [isMinting, setMinting] = useState(false);
  const [minted, setMinted] = useState<Minted | null>(null);
  const reason = adminReason(membership.role);
  const finish = (answer: Minted) => {
    setMinting(false);
    setMinted(answer);
  };
  return (
    <Section
      title="Service tokens"
      description="For programs such as CI. A machine of a person logs in with signalbox login instead."
      action={
        !isMinting && (
          <ActionButton look="primary" disabledReason={reason} onClick={() => setMinting(true)}>
            New token
          </ActionButton>
        )
      }
    >
      {isMinting && <MintForm onCancel={() => setMinting(false)} onDone={finish} />}
      {minted && (
        <ShownOnce
          title={`The token ${plainText(minted.serviceToken.name)}`}
          text={minted.token}
          onDone={() => setMinted(null)}
        >
          Put it where the program reads it, for instance in the variable SIGNALBOX_TOKEN. It is
          shown once; the hub keeps its hash only.
        </ShownOnce>
      )}
      {reason === undefined ? (
        <TokenList />
      ) : (
        <EmptyState icon="key-round" title="Owners and admins see the tokens">
          Your role is {membership.role}. Ask an owner or admin for a token that a program needs.
        </EmptyState>
      )}
    </Section>
  );
}

function TokenList() {
  const { membership } = workspace.useRouteContext();
  const query = useQuery(serviceTokensQuery(membership.workspaceId));
  return (
    <RecordRows
      what="the tokens"
      query={query}
      label="Service tokens"
      items={({ tokens }) => tokens}
      empty={
        <EmptyState
          icon="key-round"
          title="No tokens yet"
          guide="/docs/start/ci"
          command={`signalbox admin tokens create --workspace ${membership.slug} --name CI`}
        >
          Create one here, or on the machine of the hub:
        </EmptyState>
      }
    >
      {(token) => <TokenRow key={token.tokenId} token={token} />}
    </RecordRows>
  );
}

function TokenRow({ token }: { token: ServiceToken }) {
  const { membership } = workspace.useRouteContext();
  const { workspaceId } = membership;
  const client = useQueryClient();
  const name = plainText(token.name);
  const revoke = async () => {
    await callHub('serviceTokens', 'revoke', { workspaceId, tokenId: token.tokenId });
    await client.invalidateQueries({ queryKey: serviceTokensQuery(workspaceId).queryKey });
    showToast({ title: `The token ${name} is revoked` });
  };
  return (
    <Row
      title={name}
      facts={[
        token.scopes.join(', '),
        <>by {plainText(token.createdBy)}</>,
        <Moment key="used" word="used" at={token.lastUsedAt} never="never used" />,
        <>
          {Date.parse(token.expiresAt) < Date.now() ? 'ended ' : 'ends '}
          <RelativeTime at={token.expiresAt} />
        </>,
      ]}
      action={
        <ConfirmButton
          label="Revoke"
          of={`the token ${name}`}
          title={`Revoke the token ${name}?`}
          onConfirm={revoke}
        >
          Programs that use it are refused at once. Agents with it lose their jobs, which are
          recovered.
        </ConfirmButton>
      }
    />
  );
}

interface MintFormProps {
  onCancel: () => void;
  onDone: (answer: Minted) => void;
}

function MintForm({ onCancel, onDone }: MintFormProps) {
  const { membership } = workspace.useRouteContext();
  const { workspaceId } = membership;
  const client = useQueryClient();
  const [chosen, setChosen] = useState<readonly Scope[]>(scopesDefault);
  const mint = useMutation({
    mutationFn: ({ name, days }: { name: string; days: string }) =>
      callHub('serviceTokens', 'mint', {
        workspaceId,
        name: name.trim(),
        scopes: [...chosen],
        expiresInMs: Number(days) * DAY_MS,
      }),
    onSuccess: async (answer) => {
      await client.invalidateQueries({ queryKey: serviceTokensQuery(workspaceId).queryKey });
      onDone(answer);
    },
  });
  const fields = useFormFields({
    initial: { name: '', days: '365' },
    check: ({ name }) => foundFaults({ name: findEmptyFault(name, 'the name of the program') }),
    act: mint,
    send: (values) => mint.mutate(values),
  });
  const change = (scope: Scope, checked: boolean) =>
    setChosen(scopes.filter((each) => (each === scope ? checked : chosen.includes(each))));
  return (
    <Sheet>
      <FieldsForm
        fields={fields}
        submit="Create token"
        disabledReason={chosen.length === 0 ? 'Choose what the token may do.' : undefined}
        onCancel={onCancel}
      >
        <TextField
          label="Name"
          hint="The program that uses it, such as CI. Tokens with one name are one program."
          maxLength={80}
          autoComplete="off"
          {...fields.bind('name')}
        />
        <fieldset className="grid gap-1">
          <legend className="mb-1 text-sm font-medium">It may</legend>
          {scopes.map((scope) => (
            <CheckField
              key={scope}
              label={scopeWords[scope].word}
              hint={scopeWords[scope].may}
              checked={chosen.includes(scope)}
              onChange={(checked) => change(scope, checked)}
            />
          ))}
        </fieldset>
        <SelectInput label="Lifetime" options={lifetimes} {...fields.bind('days')} />
      </FieldsForm>
    </Sheet>
  );
}

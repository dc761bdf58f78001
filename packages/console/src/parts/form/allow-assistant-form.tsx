import type { AssistantScope } from '@signalbox/contract';
import { useMutation } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import type { AssistantConsent } from '../../api/session-queries.ts';
import { plainText } from '../../format/text.ts';
import { Facts } from '../record/facts.tsx';
import { CheckField, SelectInput } from '../settings/controls.tsx';
import { EndState } from '../status/end-state.tsx';
import { ErrorNotice } from '../status/error-notice.tsx';
import { Button } from './button.tsx';

/** The rights in words, with what they mean for the person. */
const words: Readonly<Record<AssistantScope, { title: string; text: string }>> = {
  read: {
    title: 'Read',
    text: 'Repositories, jobs with their logs, questions, and what your team has written to them.',
  },
  enqueue: {
    title: 'Start and cancel jobs',
    text: 'Coding agents then work on your repositories in your name.',
  },
  answer: {
    title: 'Answer questions of agents',
    text: 'Facts and choices only. Approvals and risks stay with you at the console.',
  },
};

interface AllowAssistantFormProps {
  query: string;
  consent: AssistantConsent;
}

/** Who asks, the workspace, the rights to choose from, and the two answers. */
export function AllowAssistantForm({ query, consent }: AllowAssistantFormProps) {
  const { workspaces } = consent;
  const [workspaceId, setWorkspaceId] = useState(workspaces[0]?.workspaceId);
  const [chosen, setChosen] = useState<ReadonlySet<AssistantScope>>(new Set(['read']));
  const workspace = workspaces.find((entry) => entry.workspaceId === workspaceId);
  const offered = workspace?.scopes ?? [];
  const scopes = offered.filter((scope) => chosen.has(scope));
  const answer = useMutation({
    mutationFn: (decision: 'allow' | 'refuse') =>
      callHub('assistantConsents', 'answer', {
        query,
        decision,
        ...(decision === 'allow' && workspaceId !== undefined && { workspaceId, scopes }),
      }),
    onSuccess: ({ redirectTo }) => window.location.assign(redirectTo),
  });
  if (answer.isSuccess) return <Answered consent={consent} wasAllowed={answer.variables} />;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    answer.mutate('allow');
  };
  const toggle = (scope: AssistantScope) => setChosen(chosen.symmetricDifference(new Set([scope])));
  return (
    <>
      <h1 className="text-xl font-semibold">Connect this assistant?</h1>
      <p className="mt-1 text-sm text-muted">
        It will act in your name. Allow only what you have just asked for yourself.
      </p>
      <div className="my-5 rounded-lg border bg-well px-4 py-3">
        <ClientFacts consent={consent} />
      </div>
      <form onSubmit={submit} className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {answer.isError && <ErrorNotice error={answer.error} />}
        <SelectInput
          label="Workspace"
          options={workspaces.map((entry) => ({
            value: entry.workspaceId,
            word: plainText(entry.name),
          }))}
          value={workspaceId ?? ''}
          onChange={(event) => setWorkspaceId(event.target.value)}
        />
        <fieldset className="grid gap-1">
          <legend className="mb-1.5 text-sm font-medium">It may</legend>
          {offered.map((scope) => (
            <CheckField
              key={scope}
              label={words[scope].title}
              hint={words[scope].text}
              checked={chosen.has(scope)}
              onChange={() => toggle(scope)}
            />
          ))}
          {offered.length === 0 && (
            <p className="text-sm text-muted">You have none of the rights that it asks for.</p>
          )}
        </fieldset>
        <div className="mt-1 grid grid-cols-2 gap-2">
          <Button className="h-10" busy={answer.isPending} onClick={() => answer.mutate('refuse')}>
            Refuse
          </Button>
          <Button
            type="submit"
            look="primary"
            className="h-10"
            busy={answer.isPending}
            disabled={scopes.length === 0}
          >
            Allow
          </Button>
        </div>
      </form>
    </>
  );
}

/** Its host is proved. The name that it chose for itself is not, and says so. */
function ClientFacts({ consent }: { consent: AssistantConsent }) {
  const { clientHost, clientName, redirectHost, isLoopback } = consent;
  const host = (text: string) => <code className="font-mono text-xs wrap-anywhere">{text}</code>;
  return (
    <Facts
      rows={[
        ['Assistant of', clientHost === null ? 'unknown: it registered itself' : host(clientHost)],
        ['Calls itself', clientName === null ? 'nothing' : `“${plainText(clientName)}”`],
        ['Answer goes to', isLoopback ? 'a program on this device' : host(redirectHost)],
      ]}
    />
  );
}

function Answered({
  consent,
  wasAllowed,
}: {
  consent: AssistantConsent;
  wasAllowed: 'allow' | 'refuse';
}) {
  const where = consent.isLoopback ? 'your assistant' : consent.redirectHost;
  return wasAllowed === 'allow' ? (
    <EndState icon="check" tone="good" title="The assistant is connected">
      <p>Return to {where}. You can end its access under Machines.</p>
    </EndState>
  ) : (
    <EndState icon="ban" tone="bad" title="The assistant was refused">
      <p>It has no access. Return to {where}.</p>
    </EndState>
  );
}

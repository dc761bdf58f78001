import type { AskedAction, RuleScope, Uncertainty } from '@signalbox/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import { type RuleDraft, rulePreviewQuery, rulesQuery } from '../../api/rule-queries.ts';
import { actionWords, prefixesOf } from '../../format/rule-words.ts';
import { plainText } from '../../format/text.ts';
import { FormModal } from '../dialog/form-modal.tsx';
import { showToast } from '../dialog/toast.ts';
import { SelectInput } from '../settings/controls.tsx';
import { ErrorNotice } from '../status/error-notice.tsx';
import { RelativeTime } from '../text/relative-time.tsx';

const DAY_MS = 86_400_000;
const QUESTIONS_SHOWN = 5;
const EXACT = 'exact';
const lifetimes = [
  { value: '1', word: 'For a day' },
  { value: '7', word: 'For a week' },
  { value: '30', word: 'For 30 days' },
];

interface RuleDialogProps {
  uncertainty: Uncertainty;
  action: AskedAction;
  onClose: () => void;
}

/** Makes an answer a rule, and shows before what it would have answered. */
export function RuleDialog({ uncertainty, action, onClose }: RuleDialogProps) {
  const { workspaceId, uncertaintyId, runId } = uncertainty;
  const client = useQueryClient();
  const [scope, setScope] = useState<RuleScope>('repository');
  const [shape, setShape] = useState(EXACT);
  const [days, setDays] = useState('7');
  const draft: RuleDraft = {
    workspaceId,
    uncertaintyId,
    scope,
    ...(shape !== EXACT && { prefixWords: Number(shape) }),
  };
  const save = useMutation({
    mutationFn: () => {
      const expiresAt = new Date(Date.now() + Number(days) * DAY_MS).toISOString();
      return callHub('decisionRules', 'create', { ...draft, expiresAt });
    },
    onSuccess: async () => {
      await client.invalidateQueries(rulesQuery(workspaceId));
      showToast({ title: 'The rule answers from now on', detail: 'Settings → Rules has it.' });
      onClose();
    },
  });
  const shapes = [
    { value: EXACT, word: `Exactly: ${actionWords(action.kind, action.words, undefined)}` },
    ...prefixesOf(action).map((count) => ({
      value: String(count),
      word: `Any that begins: ${actionWords(action.kind, action.words, count)}`,
    })),
  ];
  return (
    <FormModal
      title="Answer this from now on"
      description="The same answer is given to later questions, without asking. Each says so."
      submit="Save the rule"
      act={save}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <SelectInput
        label="Actions"
        value={shape}
        options={shapes}
        onChange={(event) => setShape(event.target.value)}
      />
      <SelectInput
        label="Questions of"
        value={scope}
        options={[
          { value: 'job', word: 'This job' },
          ...(runId === null ? [] : [{ value: 'run', word: 'This run' }]),
          { value: 'repository', word: 'This repository' },
        ]}
        onChange={(event) => setScope(scopeOf(event.target.value))}
      />
      <SelectInput
        label="How long"
        value={days}
        options={lifetimes}
        onChange={(event) => setDays(event.target.value)}
      />
      <Preview draft={draft} />
    </FormModal>
  );
}

function scopeOf(value: string): RuleScope {
  return value === 'job' || value === 'run' ? value : 'repository';
}

function Preview({ draft }: { draft: RuleDraft }) {
  const { data, error } = useQuery(rulePreviewQuery(draft));
  if (error) return <ErrorNotice error={error} />;
  if (data === undefined) return <p className="text-sm text-muted">Looking at past questions …</p>;
  const { verdict, count, questions } = data;
  const word = verdict === 'allow' ? 'allowed' : 'refused';
  return (
    <div className="grid gap-1 text-sm" role="status">
      <p className="font-medium">
        {count === 0
          ? `It would have ${word} no other question so far.`
          : `It would have ${word} ${count === 1 ? 'one other question' : `${count} others`}:`}
      </p>
      <ul className="grid gap-0.5 text-muted">
        {questions.slice(0, QUESTIONS_SHOWN).map(({ uncertaintyId, title, createdAt }) => (
          <li key={uncertaintyId} className="wrap-anywhere">
            {plainText(title)}, <RelativeTime at={createdAt} />
          </li>
        ))}
        {count > QUESTIONS_SHOWN && <li>and {count - QUESTIONS_SHOWN} more</li>}
      </ul>
    </div>
  );
}

import type { Trigger } from '@signalbox/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ChangeEvent, useState } from 'react';
import { callHub } from '../api/hub-call.ts';
import { repositoriesQuery } from '../api/job-queries.ts';
import { triggersQuery } from '../api/trigger-queries.ts';
import { classNames } from '../class-names.ts';
import { plainText } from '../format/text.ts';
import { opWords } from '../format/trigger-words.ts';
import { Button } from '../parts/form/button.tsx';
import { FieldFrame, inputClasses, TextField } from '../parts/form/field.tsx';
import { FieldsForm } from '../parts/form/fields-form.tsx';
import { useFormFields } from '../parts/form/form-fields.ts';
import { Fold } from '../parts/page/fold.tsx';
import { SelectInput } from '../parts/settings/controls.tsx';
import { Sheet } from '../parts/settings/section.tsx';
import {
  type ConditionDraft,
  conditionsOf,
  findTriggerFaults,
  requestOf,
  type TriggerValues,
  valuesOf,
} from './trigger-draft.ts';

const types = [
  { value: 'event', word: 'Event of another system' },
  { value: 'schedule', word: 'Schedule' },
];

interface TriggerFormProps {
  workspaceId: string;
  /** The trigger that is changed; null for a new one. */
  trigger: Trigger | null;
  onCancel: () => void;
  onDone: (trigger: Trigger) => void;
}

/** Makes or changes a trigger. */
export function TriggerForm({ workspaceId, trigger, onCancel, onDone }: TriggerFormProps) {
  const [conditions, setConditions] = useState(() => conditionsOf(trigger));
  const { repos = [] } = useQuery(repositoriesQuery(workspaceId)).data ?? {};
  const save = useSave(workspaceId, trigger, onDone);
  const fields = useFormFields({
    initial: valuesOf(trigger),
    check: findTriggerFaults,
    act: save,
    send: (values) => save.mutate({ values, conditions }),
  });
  const { bind, values } = fields;
  const rarely = { required: false } as const;
  const repositories = [
    { value: '', word: 'Choose …' },
    ...repos.map(({ repoId, label }) => ({ value: repoId, word: plainText(label) || repoId })),
  ];
  return (
    <Sheet>
      <FieldsForm
        fields={fields}
        className="sm:max-w-xl"
        submit={trigger === null ? 'Create trigger' : 'Save the trigger'}
        onCancel={onCancel}
      >
        <TextField label="Name" maxLength={200} autoComplete="off" {...bind('name')} />
        {trigger === null && <SelectInput label="Starts by" options={types} {...bind('type')} />}
        {values.type === 'event' ? (
          <>
            <TextField
              label="Type of the event"
              hint="Such as issue.opened. Empty: every type."
              {...bind('eventType')}
              {...rarely}
            />
            <TextField
              label="Source"
              hint="The system that sends it, such as tracker. Empty: every system."
              {...bind('source')}
              {...rarely}
            />
            <Conditions conditions={conditions} onChange={setConditions} />
          </>
        ) : (
          <>
            <TextField
              label="Times"
              hint="Minute, hour, day of month, month, day of week: 0 9 * * MON-FRI is 9:00 on weekdays."
              {...bind('cron')}
            />
            <TextField label="Time zone" hint="Such as Europe/Berlin." {...bind('timeZone')} />
          </>
        )}
        <SelectInput label="Repository" options={repositories} {...bind('repoId')} />
        <PromptTemplate {...bind('promptTemplate')} isEvent={values.type === 'event'} />
        <Fold title="Run, priority and limit">
          <div className="grid gap-4">
            <TextField
              label="Run reference"
              hint="Jobs with the same reference belong to one run. Empty: a run each time."
              {...bind('runRefTemplate')}
              {...rarely}
            />
            <TextField
              label="Title of the run"
              hint="Empty: the name of the trigger."
              {...bind('titleTemplate')}
              {...rarely}
            />
            <TextField label="Priority" inputMode="numeric" {...bind('priority')} />
            <TextField label="Jobs per hour at most" inputMode="numeric" {...bind('hourlyCap')} />
          </div>
        </Fold>
      </FieldsForm>
    </Sheet>
  );
}

interface PromptTemplateProps {
  name: string;
  value: string;
  error: string | undefined;
  isEvent: boolean;
  onChange: (event: ChangeEvent<HTMLTextAreaElement>) => void;
}

function PromptTemplate({ isEvent, error, ...rest }: PromptTemplateProps) {
  return (
    <FieldFrame
      label="Prompt"
      hint={
        isEvent
          ? '{{event.title}}, {{event.content}} and {{event.data.…}} are replaced by the event, marked as text of others.'
          : '{{schedule.slotAt}} is replaced by the time.'
      }
      error={error}
    >
      {(ids) => (
        <textarea
          rows={6}
          className={classNames(inputClasses, 'h-auto min-h-32 resize-y py-2')}
          {...rest}
          {...ids}
        />
      )}
    </FieldFrame>
  );
}

const ops = Object.entries(opWords).map(([value, word]) => ({ value, word }));

interface ConditionsProps {
  conditions: readonly ConditionDraft[];
  onChange: (conditions: ConditionDraft[]) => void;
}

/** Edits what must be true of an event, beside its type and source. */
function Conditions({ conditions, onChange }: ConditionsProps) {
  const set = (at: number, change: Partial<ConditionDraft>) =>
    onChange(conditions.map((each, index) => (index === at ? { ...each, ...change } : each)));
  const add = () => {
    const key = Math.max(-1, ...conditions.map((each) => each.key)) + 1;
    onChange([...conditions, { key, path: '', op: 'eq', value: '' }]);
  };
  return (
    <fieldset className="grid gap-3">
      <legend className="mb-1 text-sm font-medium">Conditions</legend>
      {conditions.length > 0 && (
        <p className="text-xs text-muted">
          A field is a path such as title or data.labels. Numbers, true and false are compared as
          such; in quotes, as text.
        </p>
      )}
      {conditions.map(({ key, path, op, value }, at) => (
        <div key={key} className="grid items-end gap-2 rounded-md border p-3 sm:grid-cols-3">
          <TextField
            label={`Field ${at + 1}`}
            placeholder="data.labels"
            value={path}
            onChange={(event) => set(at, { path: event.target.value })}
          />
          <SelectInput
            label={`Test ${at + 1}`}
            options={ops}
            value={op}
            onChange={(event) => set(at, { op: opOf(event.target.value) })}
          />
          <TextField
            label={`Value ${at + 1}`}
            value={value}
            placeholder={op === 'exists' ? 'true' : ''}
            onChange={(event) => set(at, { value: event.target.value })}
          />
          <Button
            look="quiet"
            className="justify-self-start"
            onClick={() => onChange(conditions.filter((_, index) => index !== at))}
          >
            Remove condition {at + 1}
          </Button>
        </div>
      ))}
      <Button className="justify-self-start" onClick={add}>
        Add a condition
      </Button>
    </fieldset>
  );
}

function opOf(value: string): ConditionDraft['op'] {
  // The record has every test, and nothing else.
  const known = Object.keys(opWords) as ConditionDraft['op'][];
  return known.find((op) => op === value) ?? 'eq';
}

function useSave(workspaceId: string, trigger: Trigger | null, onDone: (made: Trigger) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (draft: { values: TriggerValues; conditions: readonly ConditionDraft[] }) => {
      const request = { workspaceId, ...requestOf(draft.values, draft.conditions) };
      if (trigger !== null) {
        const { triggerId } = trigger;
        return callHub('triggerSettings', 'update', { ...request, triggerId });
      }
      const type = draft.values.type === 'schedule' ? 'schedule' : 'event';
      return callHub('triggerSettings', 'create', { ...request, type });
    },
    onSuccess: async ({ trigger: made }) => {
      await client.invalidateQueries({ queryKey: triggersQuery(workspaceId).queryKey });
      onDone(made);
    },
  });
}

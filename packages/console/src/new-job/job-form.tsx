import { jobKinds } from 'virtual:contract-data';
import type { JobKind, JobTemplate } from '@signalbox/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { callHub } from '../api/hub-call.ts';
import { kindWords } from '../format/job-words.ts';
import { showToast } from '../parts/dialog/toast.ts';
import { ActionButton } from '../parts/form/action-button.tsx';
import { Button } from '../parts/form/button.tsx';
import { FieldFrame, inputClasses, TextField } from '../parts/form/field.tsx';
import { Fold } from '../parts/page/fold.tsx';
import { Keys } from '../parts/page/keys.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import { type AttachmentChange, AttachmentField, useAttachments } from './attachment-field.tsx';
import {
  type DraftFaults,
  type EnqueueRequest,
  emptyDraft,
  faultsOf,
  type JobDraft,
  rareFields,
  requestOf,
} from './job-draft.ts';
import { JobPicker } from './job-picker.tsx';
import { PromptField } from './prompt-field.tsx';
import { SameCommands } from './same-commands.tsx';
import { keyFor, type StoredDraft, storeDraft } from './stored-draft.ts';
import { TemplateBar } from './template-bar.tsx';
import { blanksLeft, draftOfTemplate } from './template-draft.ts';
import { VariantFields } from './variant-fields.tsx';

interface Option {
  value: string;
  word: string;
}

const kindOptions = jobKinds.map((value) => ({ value, word: kindWords[value] }));
/** The kinds that people choose; the others are for programs and stand apart. */
const usualKinds: ReadonlySet<JobKind> = new Set(['work', 'pr_review']);

interface JobFormProps {
  workspaceId: string;
  slug: string;
  initial: StoredDraft;
  repositories: readonly Option[];
  runs: readonly Option[];
  disabledReason: string | undefined;
}

/** The form of a new job. What is entered survives a reload, until the job is enqueued. */
export function JobForm(props: JobFormProps) {
  const { workspaceId, slug, repositories, runs, disabledReason } = props;
  const form = useJobForm(props);
  const { draft, errors, set, enqueue } = form;
  const current = requestOf(workspaceId, draft);
  const files = useAttachments(workspaceId, draft.attachments, form.attach);
  const isUploading = files.arrivals.length > 0;
  const send = () => {
    if (!isUploading) form.send();
  };
  return (
    <form
      ref={form.ref}
      noValidate
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
        event.preventDefault();
        send();
      }}
    >
      <TemplateBar
        workspaceId={workspaceId}
        draft={draft}
        chosen={form.template}
        disabledReason={disabledReason}
        onChoose={form.choose}
        onSaved={form.setTemplate}
      />
      <MainFields form={form} repositories={repositories} />
      <VariantFields
        workspaceId={workspaceId}
        repoId={draft.repoId}
        single={{ tool: draft.tool, model: draft.model }}
        variants={draft.variants}
        error={errors.variants}
        onChange={form.change}
      />
      <AttachmentField files={files} error={errors.attachments}>
        <PromptField
          value={draft.prompt}
          error={errors.prompt}
          onChange={(value) => set('prompt', value)}
        />
      </AttachmentField>
      <RareFields form={form} workspaceId={workspaceId} runs={runs} />
      {form.failure && <ErrorNotice error={form.failure} />}
      <div className="flex flex-wrap items-center gap-2">
        <ActionButton
          type="submit"
          look="primary"
          busy={enqueue.isPending}
          disabledReason={disabledReason ?? (isUploading ? 'Files are being uploaded.' : undefined)}
        >
          Enqueue
        </ActionButton>
        <Button
          look="quiet"
          onClick={() => {
            files.stop();
            form.discard();
          }}
        >
          Discard the draft
        </Button>
        <span className="ml-auto hidden text-xs text-muted sm:inline-flex">
          <Keys keys="mod+Enter" />
        </span>
      </div>
      {current.request !== null && (
        <SameCommands
          slug={slug}
          request={current.request}
          fileNames={draft.attachments.map(({ fileName }) => fileName)}
        />
      )}
    </form>
  );
}

type JobFormState = ReturnType<typeof useJobForm>;

/** The values that were entered, their faults, and the ways to send and discard them. */
function useJobForm({ workspaceId, slug, initial, repositories, disabledReason }: JobFormProps) {
  const [template, setTemplate] = useState<JobTemplate | null>(null);
  const [draft, setDraft] = useState(initial.draft);
  const [faults, setFaults] = useState<DraftFaults>({});
  /** The newest draft, for files that have arrived since this one was drawn. */
  const latest = useRef(draft);
  const [attempt, setAttempt] = useState(0);
  const ref = useRef<HTMLFormElement>(null);
  const enqueue = useEnqueue(workspaceId, slug, initial.sent);
  const refused = faultsOf(enqueue.error);
  const errors: DraftFaults = { ...refused, ...faults };
  const hasFailed = enqueue.isError;
  useEffect(() => {
    if (attempt === 0 && !hasFailed) return;
    ref.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [attempt, hasFailed]);
  const change = (values: Partial<JobDraft>) => {
    const next = { ...latest.current, ...values };
    latest.current = next;
    setDraft(next);
    setFaults((now) =>
      Object.fromEntries(Object.entries(now).filter(([name]) => !(name in values))),
    );
    if (hasFailed) enqueue.reset();
    storeDraft(workspaceId, { draft: next, sent: enqueue.sent.current });
  };
  const set = <Name extends keyof JobDraft>(name: Name, value: JobDraft[Name]) =>
    change({ [name]: value });
  return {
    ref,
    draft,
    errors,
    enqueue,
    set,
    change,
    template,
    setTemplate,
    choose(next: JobTemplate | null) {
      setTemplate(next);
      if (next === null || next.name === template?.name) return;
      const before = latest.current;
      const made = draftOfTemplate(next, before);
      const isOffered = repositories.some(({ value }) => value === made.repoId);
      change(isOffered ? made : { ...made, repoId: before.repoId });
      const undo = () => {
        setTemplate(template);
        change(before);
      };
      showToast({ title: `The form has the values of ${next.name}`, undo });
    },
    /** The failure, unless fields show it. */
    failure: refused === null ? enqueue.error : null,
    attach: (change: AttachmentChange) => set('attachments', change(latest.current.attachments)),
    text: (name: Exclude<keyof JobDraft, 'dependsOn' | 'kind' | 'attachments' | 'variants'>) => ({
      name,
      value: draft[name],
      error: errors[name],
      onChange: (event: { target: { value: string } }) => set(name, event.target.value),
    }),
    send() {
      if (enqueue.isPending || disabledReason !== undefined) return;
      const made = requestOf(workspaceId, draft);
      const blanks = template === null ? [] : blanksLeft(template, draft);
      setFaults({
        ...made.faults,
        ...(blanks.length > 0 && { prompt: `Fill in ${blanks.join(' and ')}.` }),
      });
      setAttempt(attempt + 1);
      if (blanks.length > 0) return;
      if (made.request !== null) enqueue.send(draft, made.request);
    },
    discard() {
      latest.current = { ...emptyDraft, repoId: draft.repoId };
      setTemplate(null);
      setDraft(latest.current);
      setFaults({});
      enqueue.reset();
      storeDraft(workspaceId, null);
    },
  };
}

interface MainFieldsProps {
  form: JobFormState;
  repositories: readonly Option[];
}

function MainFields({ form, repositories }: MainFieldsProps) {
  const { draft, errors, set, text } = form;
  return (
    <div className="grid items-start gap-4 sm:grid-cols-[minmax(0,2fr)_minmax(0,1fr)_minmax(0,1fr)]">
      <Select
        label="Repository"
        name="repoId"
        value={draft.repoId}
        error={errors.repoId}
        none="Choose …"
        options={repositories}
        onChange={(value) => set('repoId', value)}
      />
      <Select
        label="Kind"
        name="kind"
        value={draft.kind}
        error={errors.kind}
        options={kindOptions.filter(({ value }) => usualKinds.has(value))}
        more={kindOptions.filter(({ value }) => !usualKinds.has(value))}
        onChange={(value) => set('kind', jobKinds.find((kind) => kind === value) ?? 'work')}
      />
      <TextField label="Priority" inputMode="numeric" placeholder="0" {...text('priority')} />
    </div>
  );
}

interface RareFieldsProps {
  form: JobFormState;
  workspaceId: string;
  runs: readonly Option[];
}

/** The rarely used fields. They unfold by themselves when one is used or wrong. */
function RareFields({ form, workspaceId, runs }: RareFieldsProps) {
  const { draft, errors, set, text } = form;
  const [isOpen, setOpen] = useState(rareFields.some((name) => draft[name].length > 0));
  const hasFault = rareFields.some((name) => errors[name] !== undefined);
  return (
    <Fold title="When, where and within which limits" open={isOpen || hasFault} onToggle={setOpen}>
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <JobPicker
          workspaceId={workspaceId}
          value={draft.dependsOn}
          error={errors.dependsOn}
          onChange={(jobIds) => set('dependsOn', jobIds)}
        />
        <TextField
          label="Builds on"
          placeholder="the default branch"
          hint="A branch, into which the work also lands, or the ID of a job. If empty: the jobs it waits for."
          {...text('base')}
        />
        <TextField
          label="Delay"
          hint="The job does not start before this time has passed: 90s, 10m, 1h30m or 2d."
          {...text('delay')}
        />
        <TextField
          label="Requirements"
          hint="Labels that the agent must have: os=linux gpu=a100. Or JSON with other capabilities."
          {...text('requirements')}
        />
        <Select
          label="Run"
          name="runId"
          value={draft.runId}
          error={errors.runId}
          none="None"
          options={withValue(runs, draft.runId)}
          onChange={(value) => set('runId', value)}
        />
        <TextField
          label="Budget in US dollars"
          inputMode="decimal"
          hint="Passed on to the agent, which keeps to it as far as its tool can."
          {...text('budgetUsd')}
        />
        <TextField label="Time limit" hint="For each attempt: 30m or 2h." {...text('timeLimit')} />
        <TextField
          label="Concurrency key"
          hint="At most one job with the same key runs at a time."
          {...text('concurrencyKey')}
        />
        <TextField
          label="Maximum attempts"
          inputMode="numeric"
          placeholder="5"
          {...text('maxAttempts')}
        />
        <TextField label="Role" placeholder="implementer" {...text('role')} />
      </div>
    </Fold>
  );
}

/** Sends a draft under its key, and leads to the job. */
function useEnqueue(workspaceId: string, slug: string, sentBefore: StoredDraft['sent']) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const sent = useRef(sentBefore);
  const mutation = useMutation({
    mutationFn: (request: EnqueueRequest) => callHub('jobs', 'enqueue', request),
    onSuccess: ({ jobId, idempotent }) => {
      storeDraft(workspaceId, null);
      showToast({ title: idempotent ? 'This job was enqueued already' : 'Enqueued' });
      for (const name of ['jobs', 'job-counts']) {
        void client.invalidateQueries({ queryKey: [name, workspaceId] });
      }
      void navigate({ to: '/w/$slug/jobs/$jobId', params: { slug, jobId } });
    },
  });
  return {
    ...mutation,
    sent,
    send(draft: JobDraft, request: EnqueueRequest) {
      const body = JSON.stringify(request);
      const key = keyFor(sent.current, body);
      sent.current = { body, key };
      // Before it is sent, so that a reload during the call keeps the key.
      storeDraft(workspaceId, { draft, sent: sent.current });
      mutation.mutate({ ...request, idempotencyKey: key });
    },
  };
}

interface SelectProps {
  label: string;
  name: string;
  value: string;
  error: string | undefined;
  /** The word of the empty choice. Without it, a value must be chosen. */
  none?: string;
  options: readonly Option[];
  /** Rare options, which stand below the others. */
  more?: readonly Option[];
  onChange: (value: string) => void;
}

function Select({ label, name, value, error, none, options, more, onChange }: SelectProps) {
  return (
    <FieldFrame label={label} error={error}>
      {(ids) => (
        <select
          {...ids}
          name={name}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          className={inputClasses}
        >
          {none !== undefined && <option value="">{none}</option>}
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.word}
            </option>
          ))}
          {more && (
            <optgroup label="More">
              {more.map((option) => (
                <option key={option.value} value={option.value}>
                  {option.word}
                </option>
              ))}
            </optgroup>
          )}
        </select>
      )}
    </FieldFrame>
  );
}

/** The options, and the value if it is not among them. */
function withValue(options: readonly Option[], value: string): readonly Option[] {
  const isKnown = value === '' || options.some((option) => option.value === value);
  return isKnown ? options : [...options, { value, word: value }];
}

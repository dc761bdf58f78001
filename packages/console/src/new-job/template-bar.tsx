import type { JobTemplate } from '@signalbox/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callHub } from '../api/hub-call.ts';
import { templatesQuery } from '../api/template-queries.ts';
import { plainText } from '../format/text.ts';
import { FormModal } from '../parts/dialog/form-modal.tsx';
import { showToast } from '../parts/dialog/toast.ts';
import { ActionButton } from '../parts/form/action-button.tsx';
import { ConfirmButton } from '../parts/form/confirm-button.tsx';
import { TextField } from '../parts/form/field.tsx';
import { SelectInput } from '../parts/settings/controls.tsx';
import type { JobDraft } from './job-draft.ts';
import { valuesOfDraft } from './template-draft.ts';

interface TemplateBarProps {
  workspaceId: string;
  draft: JobDraft;
  chosen: JobTemplate | null;
  disabledReason: string | undefined;
  onChoose: (template: JobTemplate | null) => void;
  /** The draft is saved as this template. */
  onSaved: (template: JobTemplate) => void;
}

/** Chooses, saves and removes templates of new jobs. */
export function TemplateBar(props: TemplateBarProps) {
  const { workspaceId, draft, chosen, disabledReason, onChoose, onSaved } = props;
  const client = useQueryClient();
  const { data } = useQuery(templatesQuery(workspaceId));
  const [isSaving, setSaving] = useState(false);
  const templates = data?.templates ?? [];
  const remove = async (name: string) => {
    await callHub('jobTemplates', 'remove', { workspaceId, name });
    await client.invalidateQueries(templatesQuery(workspaceId));
    onChoose(null);
    showToast({ title: `The template ${name} is removed` });
  };
  return (
    <div className="flex flex-wrap items-end gap-2">
      {templates.length > 0 && (
        <div className="min-w-48 grow sm:max-w-80">
          <SelectInput
            label="Template"
            options={[
              { value: '', word: 'None' },
              ...templates.map(({ name }) => ({ value: name, word: plainText(name) })),
            ]}
            value={chosen?.name ?? ''}
            onChange={({ target }) =>
              onChoose(templates.find(({ name }) => name === target.value) ?? null)
            }
          />
        </div>
      )}
      <ActionButton
        aria-haspopup="dialog"
        disabledReason={disabledReason}
        onClick={() => setSaving(true)}
      >
        Save as template
      </ActionButton>
      {chosen !== null && (
        <ConfirmButton
          label="Remove"
          of={`the template ${plainText(chosen.name)}`}
          look="quiet"
          title={`Remove the template ${plainText(chosen.name)}?`}
          disabledReason={disabledReason}
          onConfirm={() => remove(chosen.name)}
        >
          It is removed for all members. Jobs that were made with it stay.
        </ConfirmButton>
      )}
      {isSaving && (
        <SaveDialog
          {...{ workspaceId, draft, templates }}
          name={chosen?.name ?? ''}
          hadRepository={chosen === null || chosen.values.repoId !== undefined}
          onClose={() => setSaving(false)}
          onSaved={onSaved}
        />
      )}
    </div>
  );
}

interface SaveDialogProps {
  workspaceId: string;
  draft: JobDraft;
  templates: readonly JobTemplate[];
  name: string;
  hadRepository: boolean;
  onClose: () => void;
  onSaved: (template: JobTemplate) => void;
}

function SaveDialog(props: SaveDialogProps) {
  const { workspaceId, draft, templates, hadRepository, onClose, onSaved } = props;
  const client = useQueryClient();
  const [name, setName] = useState(props.name);
  const [keepsRepository, setKeepsRepository] = useState(hadRepository && draft.repoId !== '');
  const [fault, setFault] = useState<string>();
  const save = useMutation({
    mutationFn: (template: Pick<JobTemplate, 'name' | 'values'>) =>
      callHub('jobTemplates', 'save', { workspaceId, ...template }),
    onSuccess: async ({ template }) => {
      await client.invalidateQueries(templatesQuery(workspaceId));
      showToast({ title: `The template ${template.name} is saved` });
      onSaved(template);
      onClose();
    },
  });
  const isKnown = templates.some((template) => template.name === name.trim());
  const submit = () => {
    const { values, fault: ofDraft } = valuesOfDraft(draft, keepsRepository);
    const missing = name.trim() === '' ? 'Enter a name.' : undefined;
    setFault(missing ?? ofDraft ?? undefined);
    if (missing === undefined && values !== null) save.mutate({ name: name.trim(), values });
  };
  return (
    <FormModal
      title="Save as template"
      description="All members find it in New job, and as signalbox enqueue --template."
      submit={isKnown ? 'Replace' : 'Save'}
      act={save}
      // The keys of the job's form have no meaning here.
      form={{ onKeyDown: (event) => event.stopPropagation() }}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label="Name"
        maxLength={100}
        value={name}
        error={fault}
        hint={isKnown ? 'The values replace those of the template with this name.' : undefined}
        onChange={({ target }) => setName(target.value)}
      />
      <label className="flex min-h-6 items-center gap-2 text-sm pointer-coarse:min-h-11">
        <input
          type="checkbox"
          className="size-4 shrink-0 accent-accent-fill"
          checked={keepsRepository}
          disabled={draft.repoId === ''}
          onChange={({ target }) => setKeepsRepository(target.checked)}
        />
        For this repository
      </label>
      <p className="text-xs text-muted">
        Blanks such as {'{{area}}'} in the prompt are filled in for each job. Delay, run, attached
        files and jobs to wait for are not kept.
      </p>
    </FormModal>
  );
}

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { callHub } from '../../api/hub-call.ts';
import { repositoriesQuery } from '../../api/job-queries.ts';
import { slugOf } from '../../format/slug.ts';
import { plainText } from '../../format/text.ts';
import { FormModal } from '../dialog/form-modal.tsx';
import { TextField } from '../form/field.tsx';
import { findEmptyFault, foundFaults, useFormFields } from '../form/form-fields.ts';
import { SelectInput } from '../settings/controls.tsx';

const workspace = getRouteApi('/w/$slug');

/** Starts a run: a title, a goal and a repository. */
export function NewRunDialog({ onClose }: { onClose: () => void }) {
  const { membership } = workspace.useRouteContext();
  const { workspaceId, slug } = membership;
  const client = useQueryClient();
  const navigate = useNavigate();
  const repos = useQuery(repositoriesQuery(workspaceId)).data?.repos ?? [];
  const create = useMutation({
    mutationFn: (form: Readonly<Record<'title' | 'goal' | 'repoId', string>>) =>
      callHub('runs', 'upsertV1', {
        workspaceId,
        repoId: form.repoId,
        status: 'planned',
        title: form.title.trim(),
        ...(form.goal.trim() !== '' && { goal: form.goal.trim() }),
        // A reference of an existing run would change that run.
        runRef: `${slugOf(form.title) || 'run'}-${crypto.randomUUID().slice(0, 8)}`,
      }),
    onSuccess: async ({ runId }) => {
      await client.invalidateQueries({ queryKey: ['runs', workspaceId] });
      await navigate({ to: '/w/$slug/runs/$runId', params: { slug, runId } });
    },
  });
  const fields = useFormFields({
    initial: { title: '', goal: '', repoId: repos.length === 1 ? (repos[0]?.repoId ?? '') : '' },
    check: ({ title, repoId }) =>
      foundFaults({
        title: findEmptyFault(title, 'a title'),
        repoId: repoId === '' ? 'Choose a repository.' : undefined,
      }),
    act: create,
    send: (form) => create.mutate(form),
  });
  return (
    <FormModal
      title="New run"
      description="A goal in one repository that several jobs work towards."
      submit="Start the run"
      act={{ ...create, error: fields.failure }}
      form={fields.form}
      onClose={onClose}
    >
      <TextField label="Title" maxLength={300} {...fields.bind('title')} />
      <TextField
        label="Goal (optional)"
        hint="When is it reached? Agents read it with each job."
        maxLength={4_000}
        {...fields.bind('goal')}
        required={false}
      />
      <SelectInput
        label="Repository"
        options={[
          { value: '', word: 'Choose one' },
          ...repos.map(({ repoId, label }) => ({
            value: repoId,
            word: plainText(label) || repoId,
          })),
        ]}
        {...fields.bind('repoId')}
      />
    </FormModal>
  );
}

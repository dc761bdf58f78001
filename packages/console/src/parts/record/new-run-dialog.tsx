import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { callHub } from '../../api/hub-call.ts';
import { repositoriesQuery } from '../../api/job-queries.ts';
import { slugOf } from '../../format/slug.ts';
import { plainText } from '../../format/text.ts';
import { Modal } from '../dialog/dialog.tsx';
import { Button } from '../form/button.tsx';
import { FieldFrame, inputClasses, TextField } from '../form/field.tsx';
import { findEmptyFault, foundFaults, useFormFields } from '../form/form-fields.ts';
import { ErrorNotice } from '../status/error-notice.tsx';

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
        ...{ workspaceId, repoId: form.repoId, status: 'planned', title: form.title.trim() },
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
    failure: create.error,
    send: (form) => create.mutate(form),
  });
  const { error: repoError, ...repoField } = fields.bind('repoId');
  return (
    <Modal
      open
      onOpenChange={onClose}
      title="New run"
      description="A goal in one repository that several jobs work towards."
    >
      <form {...fields.form} className="grid gap-4">
        {fields.failure && <ErrorNotice error={fields.failure} />}
        <TextField label="Title" maxLength={300} {...fields.bind('title')} />
        <TextField
          label="Goal (optional)"
          hint="When is it reached? Agents read it with each job."
          maxLength={4_000}
          {...fields.bind('goal')}
          required={false}
        />
        <FieldFrame label="Repository" error={repoError}>
          {(ids) => (
            <select className={inputClasses} {...repoField} {...ids}>
              <option value="">Choose one</option>
              {repos.map(({ repoId, label }) => (
                <option key={repoId} value={repoId}>
                  {plainText(label) || repoId}
                </option>
              ))}
            </select>
          )}
        </FieldFrame>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Go back</Button>
          <Button type="submit" look="primary" busy={create.isPending}>
            Start the run
          </Button>
        </div>
      </form>
    </Modal>
  );
}

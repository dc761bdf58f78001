import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useRouter } from '@tanstack/react-router';
import { callHub } from '../api/hub-call.ts';
import { sessionQuery } from '../api/session-queries.ts';
import { findSlugFault, slugFor } from '../format/slug.ts';
import { Button, buttonClasses } from '../parts/form/button.tsx';
import { findEmptyFault, foundFaults, useFormFields } from '../parts/form/form-fields.ts';
import { WorkspaceFields } from '../parts/form/workspace-fields.tsx';
import { CardPage } from '../parts/page/card-page.tsx';
import { usePageTitle } from '../parts/page/page-title.ts';
import { EndState } from '../parts/status/end-state.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import { workspaceHome } from '../routes/workspace-home.ts';

const route = getRouteApi('/new-workspace');

/** Creates a workspace, or says why the person may not. */
export function NewWorkspacePage() {
  usePageTitle('New workspace');
  const { workspaces, workspaceRefusal } = route.useRouteContext();
  return (
    <CardPage>
      {workspaceRefusal === null ? (
        <>
          <h1 className="text-xl font-semibold">New workspace</h1>
          <p className="mt-1 text-sm text-muted">
            A workspace has its own repositories, jobs, agents and people. You become its owner.
          </p>
          <WorkspaceForm />
        </>
      ) : (
        <EndState icon="triangle-alert" tone="neutral" title="You may not create a workspace">
          <p>{workspaceRefusal}</p>
        </EndState>
      )}
      {workspaces.length > 0 && (
        <Link to="/" className={buttonClasses('quiet', 'mt-3 w-full')}>
          Go back
        </Link>
      )}
    </CardPage>
  );
}

function WorkspaceForm() {
  const client = useQueryClient();
  const router = useRouter();
  const create = useMutation({
    mutationFn: (form: { workspaceName: string; workspaceSlug: string }) =>
      callHub('workspaceSettings', 'create', {
        name: form.workspaceName.trim(),
        slug: slugFor(form),
      }),
    onSuccess: async ({ workspace }) => {
      await client.refetchQueries(sessionQuery());
      await router.navigate({ to: workspaceHome, params: { slug: workspace.slug } });
    },
  });
  const fields = useFormFields({
    initial: { workspaceName: '', workspaceSlug: '' },
    check: (form) =>
      foundFaults({
        workspaceName: findEmptyFault(form.workspaceName, 'a name for the workspace'),
        workspaceSlug: form.workspaceName === '' ? undefined : findSlugFault(slugFor(form)),
      }),
    act: create,
    fieldOfCode: { SLUG_TAKEN: { name: 'workspaceSlug' } },
    send: (form) => create.mutate(form),
  });
  return (
    <form {...fields.form} className="mt-5 grid grid-cols-[minmax(0,1fr)] gap-4">
      {fields.failure && <ErrorNotice error={fields.failure} />}
      <WorkspaceFields fields={fields} />
      <Button type="submit" look="primary" className="mt-1 h-9" busy={create.isPending}>
        Create the workspace
      </Button>
    </form>
  );
}

import { getRouteApi, Link } from '@tanstack/react-router';
import { buttonClasses } from '../parts/form/button.tsx';
import { Command } from '../parts/form/copy-button.tsx';
import { CardPage } from '../parts/page/card-page.tsx';
import { usePageTitle } from '../parts/page/page-title.ts';

const route = getRouteApi('/');

/** Shown to a signed-in person without a workspace. */
export function NoWorkspacePage() {
  usePageTitle('No workspace');
  const { workspaceRefusal } = route.useRouteContext();
  return (
    <CardPage>
      <h1 className="text-xl font-semibold">You are not a member of any workspace</h1>
      <p className="mt-3 mb-4 text-sm text-muted">
        Ask an owner of a workspace to add you. {workspaceRefusal}
      </p>
      {workspaceRefusal === null && (
        <Link to="/new-workspace" className={buttonClasses('primary', 'mb-4 h-9')}>
          Create a workspace
        </Link>
      )}
      <p className="mb-2 text-sm text-muted">On the machine of the hub, its operator runs:</p>
      <Command text="npx signalbox admin workspace create --slug acme --name Acme" />
    </CardPage>
  );
}

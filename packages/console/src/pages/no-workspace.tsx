import { CardPage } from '../parts/card-page.tsx';
import { Command } from '../parts/copy-button.tsx';
import { usePageTitle } from '../parts/page-title.ts';

/** Shown to a signed-in person without a workspace. */
export function NoWorkspacePage() {
  usePageTitle('No workspace');
  return (
    <CardPage>
      <h1 className="text-xl font-semibold">You are not a member of any workspace</h1>
      <p className="mt-3 mb-4 text-sm text-muted">
        Ask an owner to add you, or create a workspace on the machine where the hub runs:
      </p>
      <Command text="npx signalbox admin workspace create --slug acme --name Acme" />
    </CardPage>
  );
}

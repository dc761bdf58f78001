import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { ActionButton, viewerReason } from '../form/action-button.tsx';

const workspace = getRouteApi('/w/$slug');
const NewRunDialog = lazy(async () => ({
  default: (await import('./new-run-dialog.tsx')).NewRunDialog,
}));

/** Opens the form of a new run. */
export function NewRunButton() {
  const { membership } = workspace.useRouteContext();
  const [open, setOpen] = useState(false);
  return (
    <>
      <ActionButton disabledReason={viewerReason(membership.role)} onClick={() => setOpen(true)}>
        New run
      </ActionButton>
      {open && (
        <Suspense>
          <NewRunDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

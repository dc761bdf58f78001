import { Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { hasCode } from '../api/hub-error.ts';
import { useLiveState } from '../live/live-state.ts';
import { Button, buttonClasses } from '../parts/form/button.tsx';
import { CardPage } from '../parts/page/card-page.tsx';
import { usePageTitle } from '../parts/page/page-title.ts';
import { ErrorNotice } from '../parts/status/error-notice.tsx';

/** Shown for unknown paths, and for workspaces of which the person is not a member. */
export function NotFoundPage() {
  usePageTitle('Not found');
  return (
    <CardPage>
      <p className="font-mono text-xs text-muted">404 NOT_FOUND</p>
      <h1 className="mt-1 text-xl font-semibold">Page not found</h1>
      <p className="mt-3 text-sm text-muted">
        The address is wrong, or it belongs to a workspace of which you are not a member. Check the
        address, or ask an owner of the workspace to add you.
      </p>
      <Link to="/" className={buttonClasses('primary', 'mt-5')}>
        Go to your workspace
      </Link>
    </CardPage>
  );
}

/** Shown when a page fails to render, or its code cannot be loaded until the hub is back. */
export function ErrorPage({ error, reset }: { error: unknown; reset: () => void }) {
  usePageTitle('Error');
  const router = useRouter();
  const tryAgain = () => {
    reset();
    void router.invalidate();
  };
  const isBack = useLiveState().kind === 'live' && hasCode(error, 'UNREACHABLE');
  useEffect(() => {
    // Loading again replaces this page. Its `reset` would render the old failure once more.
    if (isBack) void router.invalidate();
  }, [isBack, router]);
  return (
    <CardPage>
      <h1 className="mb-4 text-xl font-semibold">This page could not be shown</h1>
      <ErrorNotice
        error={error}
        action={
          <div className="flex gap-2">
            <Button onClick={tryAgain}>Try again</Button>
            <Link to="/" className={buttonClasses('quiet')}>
              Go to the start page
            </Link>
          </div>
        }
      />
    </CardPage>
  );
}

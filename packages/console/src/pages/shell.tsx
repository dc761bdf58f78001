import { getRouteApi, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { noteFrameShown } from '../api/read-first.ts';
import { useReportPage } from '../live/report-page.ts';
import { useLive } from '../live/use-live.ts';
import { ToastHost } from '../parts/dialog/toast-host.tsx';
import { InShell } from '../parts/page/card-page.tsx';
import { ConnectionBanner } from '../shell/connection-banner.tsx';
import { keepFocus } from '../shell/keep-focus.ts';
import { ArrivedDecisions, OpenDecisionsTab } from '../shell/open-decisions.tsx';
import { BottomBar, TopBar } from '../shell/phone-bars.tsx';
import { ShellKeys } from '../shell/shell-keys.tsx';
import { shellGrid } from '../shell/shell-layout.ts';
import { Sidebar } from '../shell/sidebar.tsx';

const workspace = getRouteApi('/w/$slug');

/** The layout of a workspace: navigation at the side; on phones, bars at the top and the bottom. */
export function Shell() {
  const { person, workspaces, membership } = workspace.useRouteContext();
  const mainRef = useFocusOnNewPage();
  useLive(membership);
  useReportPage(membership.workspaceId);
  useEffect(noteFrameShown, []);
  useEffect(() => (mainRef.current === null ? undefined : keepFocus(mainRef.current)), [mainRef]);
  return (
    <div className={shellGrid}>
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-30 focus:rounded-md focus:bg-accent-fill focus:px-3 focus:py-2 focus:text-white"
      >
        Skip to content
      </a>
      <TopBar person={person} workspaces={workspaces} membership={membership} />
      <Sidebar person={person} workspaces={workspaces} membership={membership} />
      <main
        ref={mainRef}
        id="content"
        tabIndex={-1}
        className="min-w-0 px-4 pt-5 pb-8 outline-none sm:px-6 lg:px-8"
      >
        <InShell value={true}>
          <Outlet />
        </InShell>
      </main>
      <ConnectionBanner />
      <BottomBar membership={membership} />
      <ShellKeys membership={membership} workspaces={workspaces} />
      <OpenDecisionsTab workspaceId={membership.workspaceId} />
      <ArrivedDecisions key={membership.workspaceId} workspaceId={membership.workspaceId} />
      <ToastHost />
    </div>
  );
}

/** Moves the focus to a new page's content, for keyboards and screen readers. */
function useFocusOnNewPage() {
  const path = useLocation({ select: ({ pathname }) => pathname });
  const shownPath = useRef(path);
  const mainRef = useRef<HTMLElement>(null);
  useEffect(() => {
    if (shownPath.current === path) return;
    shownPath.current = path;
    mainRef.current?.focus({ preventScroll: true });
  }, [path]);
  return mainRef;
}

import { getRouteApi, Link, Outlet, useLocation, useParams } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { AccountMenu } from '../parts/account-menu.tsx';
import { Icon } from '../parts/icon.tsx';
import { ThemeToggle } from '../parts/theme-toggle.tsx';
import { WorkspaceMenu } from '../parts/workspace-menu.tsx';

const workspace = getRouteApi('/w/$slug');

/** The layout of a workspace: navigation at the side, on phones at the top. */
export function Shell() {
  const { person, workspaces, membership } = workspace.useRouteContext();
  const mainRef = useFocusOnNewPage();
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[14rem_minmax(0,1fr)]">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-30 focus:rounded-md focus:bg-accent-fill focus:px-3 focus:py-2 focus:text-white"
      >
        Skip to content
      </a>
      <header className="sticky top-0 z-10 flex flex-wrap items-center gap-1 border-b bg-canvas p-2 md:h-dvh md:flex-col md:flex-nowrap md:items-stretch md:border-r md:border-b-0 md:p-3">
        <WorkspaceMenu current={membership} workspaces={workspaces} />
        <nav aria-label="Workspace" className="order-last w-full md:order-none md:mt-3 md:grow">
          <ul className="flex gap-1 md:grid">
            <NavLink to="jobs" />
          </ul>
        </nav>
        <div className="flex items-center gap-1">
          <AccountMenu person={person} />
          <ThemeToggle />
        </div>
      </header>
      <main
        ref={mainRef}
        id="content"
        tabIndex={-1}
        className="min-w-0 px-4 py-5 outline-none sm:px-6 lg:px-8"
      >
        <Outlet />
      </main>
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

/** The pages of a workspace in navigation order. */
const navLooks = { jobs: { icon: 'jobs', word: 'Jobs', path: '/w/$slug/jobs' } } as const;

function NavLink({ to }: { to: keyof typeof navLooks }) {
  const { slug } = useParams({ from: '/w/$slug' });
  const { icon, word, path } = navLooks[to];
  return (
    <li>
      <Link
        to={path}
        params={{ slug }}
        activeProps={{ className: 'bg-hover text-ink', 'aria-current': 'page' }}
        inactiveProps={{ className: 'text-muted' }}
        activeOptions={{ includeSearch: false }}
        className="flex h-8 items-center gap-2 rounded-md px-2 text-sm font-medium hover:bg-hover hover:text-ink pointer-coarse:h-11"
      >
        <Icon name={icon} />
        {word}
      </Link>
    </li>
  );
}

import { getRouteApi, Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { settingsPages } from '../shell/nav-entries.ts';

const workspace = getRouteApi('/w/$slug');

/** The frame of all settings: their list at the left, on phones above. */
export function SettingsPage() {
  const { slug } = workspace.useParams();
  const navRef = useCurrentInView();
  return (
    <div className="mx-auto grid max-w-5xl grid-cols-[minmax(0,1fr)] gap-4">
      <h1 className="text-xl font-semibold tracking-tight">Settings</h1>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5 lg:grid-cols-[11rem_minmax(0,1fr)] lg:gap-8">
        <nav ref={navRef} aria-label="Settings">
          <ul className="-mx-1 flex gap-1 overflow-x-auto px-1 pb-1 lg:sticky lg:top-6 lg:grid">
            {settingsPages.map(({ to, word }) => (
              <li key={to} className="shrink-0">
                <Link
                  to={to}
                  params={{ slug }}
                  activeProps={{ 'aria-current': 'page', className: 'bg-hover text-ink' }}
                  inactiveProps={{ className: 'text-muted' }}
                  activeOptions={{ includeSearch: false }}
                  className="flex h-8 items-center rounded-md px-2.5 text-sm font-medium hover:bg-hover hover:text-ink pointer-coarse:h-11"
                >
                  {word}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] content-start gap-8">
          <Outlet />
        </div>
      </div>
    </div>
  );
}

/** On phones the list scrolls sideways: brings the current entry into view. */
function useCurrentInView() {
  const path = useLocation({ select: ({ pathname }) => pathname });
  const navRef = useRef<HTMLElement>(null);
  useEffect(() => {
    // `/w/acme/settings/triggers`, for the page of one trigger too.
    const entry = path.split('/').slice(0, 5).join('/');
    const current = navRef.current?.querySelector(`a[href="${entry}"]`);
    current?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [path]);
  return navRef;
}

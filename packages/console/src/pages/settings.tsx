import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { settingsPages } from '../shell/nav-entries.ts';

const workspace = getRouteApi('/w/$slug');

/** The frame of all settings: their list at the left, on phones above. */
export function SettingsPage() {
  const { slug } = workspace.useParams();
  return (
    <div className="mx-auto grid max-w-5xl grid-cols-[minmax(0,1fr)] gap-4">
      <h1 className="text-xl font-semibold tracking-tight">Settings</h1>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5 lg:grid-cols-[11rem_minmax(0,1fr)] lg:gap-8">
        <nav aria-label="Settings">
          <ul className="-mx-1 flex flex-wrap gap-x-1 px-1 lg:sticky lg:top-6 lg:grid lg:gap-1">
            {settingsPages.map(({ to, word }) => (
              <li key={to}>
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

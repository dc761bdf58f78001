import { Tabs } from '@base-ui/react/tabs';
import { Link, useRouterState } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface Tab<Name extends string> {
  name: Name;
  word: string;
  /** Shown beside the word, for instance a count. */
  note?: ReactNode;
}

interface UrlTabsProps<Name extends string> {
  label: string;
  tabs: readonly Tab<Name>[];
  /** The tab in the URL; the route validates it. */
  current: Name;
  /** The panel of the current tab. */
  children: ReactNode;
}

/**
 * Tabs whose choice is the search parameter `tab`, so that a tab can be linked to, opened in a new
 * window and left by going back. The first tab has no parameter.
 */
export function UrlTabs<Name extends string>(props: UrlTabsProps<Name>) {
  const { label, tabs, current, children } = props;
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  return (
    <Tabs.Root value={current} className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4">
      <Tabs.List
        aria-label={label}
        activateOnFocus={false}
        className="flex overflow-x-auto border-b sm:gap-1"
      >
        {tabs.map(({ name, word, note }, at) => (
          <Tabs.Tab
            key={name}
            value={name}
            nativeButton={false}
            render={
              <Link
                to={pathname}
                search={(now: Record<string, unknown>) => {
                  const { tab: _, ...rest } = now;
                  return at === 0 ? rest : { ...rest, tab: name };
                }}
                resetScroll={false}
              />
            }
            className="-mb-px flex h-9 shrink-0 items-center gap-1.5 border-b-2 border-transparent px-2 text-sm sm:px-3 font-medium text-muted hover:text-ink data-active:border-accent data-active:text-ink pointer-coarse:h-11"
          >
            {word}
            {note !== undefined && <span className="text-xs text-faint">{note}</span>}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={current} className="min-w-0">
        {children}
      </Tabs.Panel>
    </Tabs.Root>
  );
}

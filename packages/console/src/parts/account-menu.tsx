import { Menu } from '@base-ui/react/menu';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { callHub } from '../api/hub-call.ts';
import { type Person, sessionQuery, signedOut } from '../api/session-queries.ts';
import { Icon } from './icon.tsx';
import { menuItemClasses, menuPopupClasses } from './workspace-menu.tsx';

/** The signed-in person, and sign-out. */
export function AccountMenu({ person }: { person: Person }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const signOut = useMutation({
    mutationFn: () => callHub('session', 'signOut', {}),
    onSuccess: async () => {
      // Remove all data that this person has read.
      client.clear();
      client.setQueryData(sessionQuery().queryKey, signedOut);
      await navigate({ to: '/sign-in' });
    },
  });
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger
        aria-label={`Account of ${person.name}`}
        className="flex h-8 min-w-0 items-center gap-2 rounded-md px-2 text-sm text-muted hover:bg-hover hover:text-ink md:grow pointer-coarse:h-11"
      >
        <Icon name="person" />
        <span className="hidden min-w-0 truncate md:inline">{person.name}</span>
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="start">
          <Menu.Popup className={menuPopupClasses}>
            <div className="border-b px-2 pt-1 pb-2 text-sm">
              <div className="truncate font-medium">{person.name}</div>
              <div className="truncate text-xs text-muted">{person.email}</div>
            </div>
            <Menu.Item
              closeOnClick={false}
              disabled={signOut.isPending}
              onClick={() => signOut.mutate()}
              className={`${menuItemClasses} mt-1`}
            >
              <Icon name="signOut" />
              {signOut.isError ? 'Sign out failed, try again' : 'Sign out'}
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

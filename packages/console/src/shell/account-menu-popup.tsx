import { Menu } from '@base-ui/react/menu';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { callHub } from '../api/hub-call.ts';
import { type Person, sessionQuery, signedOut } from '../api/session-queries.ts';
import { MenuPopup, menuItemClasses } from '../parts/dialog/menu.tsx';
import type { MenuState } from '../parts/form/menu-button.tsx';
import { Icon, type IconName } from '../parts/page/icon.tsx';
import { readTheme, type Theme, themes, writeTheme } from '../parts/page/theme.ts';
import { unsubscribe } from '../push/this-device.ts';

const themeLooks: Readonly<Record<Theme, { icon: IconName; word: string }>> = {
  system: { icon: 'monitor', word: 'System theme' },
  light: { icon: 'sun', word: 'Light theme' },
  dark: { icon: 'moon', word: 'Dark theme' },
};

export function AccountMenuPopup({ person, ...state }: MenuState & { person: Person }) {
  const signOut = useSignOut();
  return (
    <MenuPopup {...state}>
      <div className="border-b px-2 pt-1 pb-2 text-sm">
        <div className="truncate font-medium">{person.name}</div>
        <div className="truncate text-xs text-muted">{person.email}</div>
      </div>
      <ThemeItems />
      <Menu.Separator className="my-1 border-t" />
      <Menu.Item
        closeOnClick={false}
        disabled={signOut.isPending}
        onClick={() => signOut.mutate()}
        className={menuItemClasses}
      >
        <Icon name="log-out" />
        {signOut.isError ? 'Sign out failed, try again' : 'Sign out'}
      </Menu.Item>
    </MenuPopup>
  );
}

function ThemeItems() {
  const [theme, setTheme] = useState(readTheme);
  const choose = (value: Theme) => {
    writeTheme(value);
    setTheme(value);
  };
  return (
    <Menu.RadioGroup value={theme} onValueChange={choose} aria-label="Theme" className="mt-1">
      {themes.map((value) => {
        const { icon, word } = themeLooks[value];
        return (
          <Menu.RadioItem key={value} value={value} className={menuItemClasses}>
            <Icon name={icon} />
            <span className="grow">{word}</span>
            <Menu.RadioItemIndicator className="text-accent">
              <Icon name="check" />
            </Menu.RadioItemIndicator>
          </Menu.RadioItem>
        );
      })}
    </Menu.RadioGroup>
  );
}

function useSignOut() {
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () => callHub('session', 'signOut', {}),
    onSuccess: async () => {
      // Remove all data that this person has read.
      client.clear();
      client.setQueryData(sessionQuery().queryKey, signedOut);
      await navigate({ to: '/sign-in' });
      await unsubscribe();
    },
  });
}

import { createContext, type ReactNode, useContext } from 'react';
import { ThemeToggle } from '../form/theme-toggle.tsx';
import { Logo } from './icon.tsx';

/** Whether the shell of a workspace, which has the logo and the `main` element, is around. */
export const InShell = createContext(false);

/** The layout of pages outside a workspace: one centred card. Within the shell, only the card. */
export function CardPage({ children }: { children: ReactNode }) {
  if (useContext(InShell)) {
    return (
      <div className="mx-auto mt-[8vh] w-full max-w-md rounded-lg border bg-surface p-6 sm:p-8">
        {children}
      </div>
    );
  }
  return (
    <div className="flex min-h-dvh flex-col items-center px-4 pt-[max(2rem,10vh)] pb-8">
      <div className="mb-6 flex items-center gap-2 text-lg font-semibold tracking-tight">
        <Logo />
        Signalbox
      </div>
      <main className="w-full max-w-md rounded-lg border bg-surface p-6 sm:p-8">{children}</main>
      <div className="mt-6">
        <ThemeToggle />
      </div>
    </div>
  );
}

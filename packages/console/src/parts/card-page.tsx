import type { ReactNode } from 'react';
import { Logo } from './icon.tsx';
import { ThemeToggle } from './theme-toggle.tsx';

/** The layout of pages outside a workspace: one centred card. */
export function CardPage({ children }: { children: ReactNode }) {
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

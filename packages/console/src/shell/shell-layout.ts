/*
 * The places of the shell, shared with its skeleton. The width of the sidebar is a variable that
 * `data-sidebar` on the root element sets, before the first paint (public/theme.js).
 */

export const shellGrid =
  'min-h-dvh pb-phone-bar md:grid md:grid-cols-[var(--sidebar-width)_minmax(0,1fr)] md:pb-0';

/** The bar at the top of phones, 48 px. */
export const topBarClasses =
  'sticky top-0 z-10 flex h-12 items-center gap-1 border-b bg-canvas px-2 md:hidden';

/** The sidebar from tablets on. */
export const sidebarClasses =
  'sticky top-0 z-10 hidden h-dvh flex-col overflow-hidden border-r bg-canvas md:flex';

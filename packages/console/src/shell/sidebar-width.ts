import { storeChoice } from '../parts/page/stored-choice.ts';

/** Switches between the wide and the narrow sidebar, and stores the choice for the next visit. */
export function toggleSidebar(): void {
  const { dataset } = document.documentElement;
  if (dataset.sidebar === 'narrow') {
    delete dataset.sidebar;
    storeChoice('sidebar', undefined);
  } else {
    dataset.sidebar = 'narrow';
    storeChoice('sidebar', 'narrow');
  }
}

import { writeSettingsPage } from './settings-page.ts';

/** Pages that readers of the repository need although a command writes them. */
export const generatedPages = [
  { path: 'docs/reference/settings.md', write: writeSettingsPage },
] as const;

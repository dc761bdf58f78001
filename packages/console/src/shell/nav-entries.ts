import { useRouter } from '@tanstack/react-router';
import {
  Bot,
  FolderGit2,
  Inbox,
  ListTodo,
  type LucideIcon,
  Settings,
  Workflow,
} from 'lucide-react';

/** A page of the navigation. */
export interface NavEntry {
  word: string;
  icon: LucideIcon;
  /** Below `/w/$slug`. The entry is shown once a route with this path exists. */
  path: string;
  /** `g` and this key open the page. */
  key: string;
  /** Below a line in the sidebar, and under "More" on phones. */
  apart?: true;
}

/** The pages in navigation order. */
export const navEntries: readonly NavEntry[] = [
  { word: 'Inbox', icon: Inbox, path: 'inbox', key: 'i' },
  { word: 'Jobs', icon: ListTodo, path: 'jobs', key: 'j' },
  { word: 'Runs', icon: Workflow, path: 'runs', key: 'r' },
  { word: 'Agents', icon: Bot, path: 'agents', key: 'a' },
  { word: 'Repositories', icon: FolderGit2, path: 'repositories', key: 'o' },
  { word: 'Settings', icon: Settings, path: 'settings', key: 's', apart: true },
];

/** How many entries the bar of a phone holds beside "More". */
export const PHONE_ENTRIES_MAX = 4;

/** The entries whose page exists. */
export function useNavEntries(): readonly NavEntry[] {
  const { routesByPath } = useRouter();
  return navEntries.filter(({ path }) => `/w/$slug/${path}` in routesByPath);
}

import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { nameOfAgent } from '../api/fleet-queries.ts';
import { callHub } from '../api/hub-call.ts';
import { agentsQuery, repositoriesQuery } from '../api/job-queries.ts';
import type { Membership } from '../api/session-queries.ts';
import { agentStatusWords } from '../format/agent-words.ts';
import { statusWords } from '../format/job-words.ts';
import { plainText } from '../format/text.ts';
import type { KeyAction } from '../keys/key-registry.ts';
import type { IconName } from '../parts/page/icon.tsx';
import { type Theme, themes, writeTheme } from '../parts/page/theme.ts';
import { statusIcon } from '../parts/status/status-badge.tsx';
import { workspaceHome } from '../routes/workspace-home.ts';
import { settingsPages, useNavEntries } from './nav-entries.ts';

/** One line of the palette. */
export interface PaletteItem {
  id: string;
  label: string;
  icon: IconName;
  tone?: string;
  /** Tells lines with the same label apart. */
  note?: string;
  /** The keys that do the same. */
  keys?: string;
  act: () => void;
}

export interface PaletteGroup {
  value: string;
  items: PaletteItem[];
}

/** Lines of one group that are shown; more words find the others. */
const GROUP_ITEMS = 8;
/** A pause in typing, after which jobs are searched. */
const PAUSE_MS = 150;
/** A single letter is in nearly every title. */
const JOB_TEXT_MIN = 2;

const themeItems: Readonly<Record<Theme, { label: string; icon: IconName }>> = {
  system: { label: 'Use the system theme', icon: 'monitor' },
  light: { label: 'Use the light theme', icon: 'sun' },
  dark: { label: 'Use the dark theme', icon: 'moon' },
};

interface PaletteInput {
  text: string;
  membership: Membership;
  workspaces: readonly Membership[];
  actions: readonly KeyAction[];
}

/** Everything that the text finds, in groups. Without text: the actions and the pages. */
export function usePaletteGroups({ text, membership, workspaces, actions }: PaletteInput): {
  groups: PaletteGroup[];
  isReading: boolean;
} {
  const wanted = text.trim();
  const { items: jobs, isReading } = useJobItems(membership, wanted);
  const pages = usePageItems(membership.slug);
  const records = useRecordItems(membership);
  const settings = useSwitchItems(membership, workspaces);
  const find = ({ value, items }: PaletteGroup) => ({ value, items: findItems(items, wanted) });
  const groups: PaletteGroup[] = [
    find({ value: 'On this page', items: actionItems(actions) }),
    find({ value: 'Pages', items: pages }),
    ...(wanted === '' ? [] : records.map(find)),
    // The hub has found them. They come late: what is above does not move.
    { value: 'Jobs', items: jobs },
    ...settings.map(find),
  ];
  return { groups: groups.filter(({ items }) => items.length > 0), isReading };
}

/** The items in which each word of the text begins a word, in their order; all without text. */
export function findItems<Item extends Pick<PaletteItem, 'label' | 'note'>>(
  items: readonly Item[],
  text: string,
): Item[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...items];
  const found = items.filter(({ label, note = '' }) => {
    const searched = `${label} ${note}`.toLowerCase();
    const parts = searched.split(/[^\p{L}\p{N}]+/u);
    // `acme/api` is typed as it is written.
    return words.every(
      (word) => parts.some((part) => part.startsWith(word)) || hasPath(searched, word),
    );
  });
  return found.slice(0, GROUP_ITEMS);
}

function hasPath(searched: string, word: string): boolean {
  return /[^\p{L}\p{N}]/u.test(word) && searched.includes(word);
}

function actionItems(actions: readonly KeyAction[]): PaletteItem[] {
  return actions
    .filter(({ group }) => group !== 'Pages')
    .map(({ keys, label, act }) => ({
      id: `keys ${keys}`,
      label,
      keys,
      act,
      icon: 'chevron-right',
    }));
}

function usePageItems(slug: string): PaletteItem[] {
  const navigate = useNavigate();
  const entries = useNavEntries().map(({ word, icon, path, key }): PaletteItem => {
    const act = () => void navigate({ to: `/w/${slug}/${path}` });
    return { id: path, label: word, icon, keys: `g ${key}`, act };
  });
  const inner = settingsPages.map(({ to, word }): PaletteItem => {
    const act = () => void navigate({ to, params: { slug } });
    return { id: to, label: word, icon: 'settings', note: 'Settings', act };
  });
  return [...entries, ...inner];
}

/** The jobs with the text in their title, ID, prompt or result. */
function paletteJobsQuery(workspaceId: string, text: string) {
  return queryOptions({
    queryKey: ['jobs', workspaceId, 'palette', text],
    queryFn: ({ signal }) =>
      callHub('jobs', 'list', { workspaceId, text, view: 'summary', limit: GROUP_ITEMS }, signal),
    placeholderData: keepPreviousData,
    enabled: text.length >= JOB_TEXT_MIN,
  });
}

function useJobItems({ workspaceId, slug }: Membership, text: string) {
  const navigate = useNavigate();
  const paused = usePaused(text);
  const read = useQuery(paletteJobsQuery(workspaceId, paused));
  const isSearched = text.length >= JOB_TEXT_MIN;
  const items = (isSearched ? (read.data?.jobs ?? []) : []).map(
    ({ jobId, title, status, changed, verdict }): PaletteItem => ({
      id: jobId,
      label: plainText(title) || jobId,
      ...statusIcon({ status, changed, verdict }),
      note: statusWords[status],
      act: () => void navigate({ to: '/w/$slug/jobs/$jobId', params: { slug, jobId } }),
    }),
  );
  return { items, isReading: isSearched && (read.isFetching || paused !== text) };
}

/** The text once typing has paused. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}

function useRecordItems({ workspaceId, slug }: Membership): PaletteGroup[] {
  const navigate = useNavigate();
  const { repos = [] } = useQuery(repositoriesQuery(workspaceId)).data ?? {};
  const { agents = [] } = useQuery(agentsQuery(workspaceId)).data ?? {};
  return [
    {
      value: 'Repositories',
      items: repos.map(({ repoId, label, status }) => ({
        id: repoId,
        icon: 'folder-git-2',
        label: plainText(label) || repoId,
        ...(status === 'archived' && { note: 'archived' }),
        act: () => void navigate({ to: '/w/$slug/repositories/$repoId', params: { slug, repoId } }),
      })),
    },
    {
      value: 'Agents',
      items: agents.map((agent) => ({
        id: agent.agentId,
        icon: 'bot',
        label: plainText(nameOfAgent(agent)),
        note: agentStatusWords[agent.status],
        act: () =>
          void navigate({
            to: '/w/$slug/agents/$agentId',
            params: { slug, agentId: agent.agentId },
          }),
      })),
    },
  ];
}

/** The other workspaces, and the themes. */
function useSwitchItems(membership: Membership, workspaces: readonly Membership[]): PaletteGroup[] {
  const navigate = useNavigate();
  const others = workspaces.filter(({ workspaceId }) => workspaceId !== membership.workspaceId);
  return [
    {
      value: 'Workspaces',
      items: others.map(({ workspaceId, slug, name, role }) => ({
        id: workspaceId,
        label: plainText(name),
        icon: 'chevrons-up-down',
        note: role,
        act: () => void navigate({ to: workspaceHome, params: { slug } }),
      })),
    },
    {
      value: 'Theme',
      items: themes.map((theme) => ({
        ...themeItems[theme],
        id: `theme ${theme}`,
        act: () => writeTheme(theme),
      })),
    },
  ];
}

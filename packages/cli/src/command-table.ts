import type { CommandModule } from './command-module.ts';

/** A row of the help, and how to get at the command; only the one that is meant is loaded. */
export interface CommandEntry {
  words: readonly string[];
  group: string;
  summary: string;
  load: () => Promise<{ command: CommandModule }>;
}

const groups = {
  machine: 'This machine:',
  jobs: 'Jobs:',
  hub: 'The hub:',
} as const;

/** Every command, in the order of the help. */
export const commandTable: readonly CommandEntry[] = [
  {
    words: ['login'],
    group: groups.machine,
    summary: 'log this machine in to a workspace, with your browser',
    load: () => import('./commands/login.ts'),
  },
  {
    words: ['logout'],
    group: groups.machine,
    summary: 'revoke the token of this machine and forget it',
    load: () => import('./commands/logout.ts'),
  },
  {
    words: ['whoami'],
    group: groups.machine,
    summary: 'say who is logged in, where, and for how long',
    load: () => import('./commands/whoami.ts'),
  },
  {
    words: ['repo', 'link'],
    group: groups.machine,
    summary: 'let agents on this machine work on a clone',
    load: () => import('./commands/repo-link.ts'),
  },
  {
    words: ['repo', 'list'],
    group: groups.machine,
    summary: 'list the repositories of the workspace and their clones here',
    load: () => import('./commands/repo-list.ts'),
  },
  {
    words: ['agent', 'start'],
    group: groups.machine,
    summary: 'claim jobs and do them with a coding tool',
    load: () => import('./commands/agent/start-agent.ts'),
  },
  {
    words: ['cloud-ai', 'start'],
    group: groups.machine,
    summary: 'claim cloud AI jobs and make their model calls',
    load: () => import('./commands/agent/start-cloud-ai.ts'),
  },
  {
    words: ['enqueue'],
    group: groups.jobs,
    summary: 'put a job in the queue',
    load: () => import('./commands/enqueue.ts'),
  },
  {
    words: ['jobs'],
    group: groups.jobs,
    summary: 'list jobs, newest first',
    load: () => import('./commands/jobs.ts'),
  },
  {
    words: ['job'],
    group: groups.jobs,
    summary: 'show one job: what it waits for, and its timeline',
    load: () => import('./commands/job.ts'),
  },
  {
    words: ['serve'],
    group: groups.hub,
    summary: 'run a hub on this machine',
    load: () => import('./commands/hub/serve.ts'),
  },
  {
    words: ['admin', 'workspace', 'create'],
    group: groups.hub,
    summary: "make a workspace, beside the hub's database",
    load: () => import('./commands/hub/admin-workspace-create.ts'),
  },
  {
    words: ['admin', 'member', 'add'],
    group: groups.hub,
    summary: "invite a person to a workspace, beside the hub's database",
    load: () => import('./commands/hub/admin-member-add.ts'),
  },
  {
    words: ['admin', 'person', 'reset-password'],
    group: groups.hub,
    summary: "create a link for a person's new password, next to the hub's database",
    load: () => import('./commands/hub/admin-person-reset-password.ts'),
  },
  {
    words: ['admin', 'token', 'create'],
    group: groups.hub,
    summary: "make a token for a program, beside the hub's database",
    load: () => import('./commands/hub/admin-token-create.ts'),
  },
  {
    words: ['doctor'],
    group: 'More:',
    summary: 'check what agents and commands need on this machine',
    load: () => import('./commands/doctor.ts'),
  },
  {
    words: ['completion'],
    group: 'More:',
    summary: 'print a completion script for bash, zsh or fish',
    load: () => import('./commands/completion.ts'),
  },
];

/** Commands that only hold others. */
export const parentSummaries: Readonly<Record<string, string>> = {
  repo: 'Link clones, list repositories.',
  agent: 'Start an agent.',
  admin: 'Administer a hub beside its database, as its operator.',
  'admin workspace': 'Make workspaces.',
  'admin member': 'Invite people to workspaces.',
  'admin person': 'Help people to regain access to their accounts.',
  'admin token': 'Make tokens for programs.',
};

import type { CommandModule } from './command-module.ts';

/** A command, as the help lists it. */
export interface CommandEntry {
  words: readonly string[];
  group: string;
  summary: string;
  load: () => Promise<{ command: CommandModule }>;
}

/** A summary for the help, and the loader of the command. Only the command that runs is loaded. */
type Row = readonly [summary: string, load: CommandEntry['load']];

/** All commands by the words of each, in the groups and the order of the help. */
const groups: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  'This machine:': {
    up: [
      'start a hub here with an agent for this clone, and open the console',
      () => import('./commands/hub/up.ts'),
    ],
    login: [
      'log this machine in to a workspace, with your browser',
      () => import('./commands/login.ts'),
    ],
    logout: [
      'revoke the token of this machine and forget it',
      () => import('./commands/logout.ts'),
    ],
    whoami: [
      'show who is logged in, where, and for how long',
      () => import('./commands/whoami.ts'),
    ],
    use: [
      'choose the workspace that commands take, among your logins',
      () => import('./commands/use.ts'),
    ],
    'repo link': [
      'link a clone, so that agents on this machine can work on it',
      () => import('./commands/repo-link.ts'),
    ],
    'repo list': [
      'list the repositories of the workspace and their clones on this machine',
      () => import('./commands/repo-list.ts'),
    ],
    'repo unlink': [
      'unlink a clone, so that agents on this machine no longer work on it',
      () => import('./commands/repo-unlink.ts'),
    ],
    'agent start': [
      'claim jobs and run them with a coding tool',
      () => import('./commands/agent/start-agent.ts'),
    ],
    'agent service install': [
      'keep an agent running, as a service of systemd or launchd',
      () => import('./commands/agent/agent-install.ts'),
    ],
    'agent service remove': [
      'end that service and remove it',
      () => import('./commands/agent/agent-remove.ts'),
    ],
    'agent service status': [
      'show whether that service runs',
      () => import('./commands/agent/agent-status.ts'),
    ],
    'hook install': [
      'ask about permissions of your own coding sessions in your inbox, too',
      () => import('./commands/agent/hook-install.ts'),
    ],
    'hook remove': [
      'ask about them at the terminal only again',
      () => import('./commands/agent/hook-remove.ts'),
    ],
    'hook status': [
      'show where that hook is installed',
      () => import('./commands/agent/hook-status.ts'),
    ],
    'hook run': [
      'ask about one permission; coding tools run this',
      () => import('./commands/agent/hook-run.ts'),
    ],
    'cloud-ai start': [
      'claim cloud AI jobs and make their model calls',
      () => import('./commands/agent/start-cloud-ai.ts'),
    ],
  },
  'Jobs:': {
    enqueue: ['add a job to the queue', () => import('./commands/enqueue.ts')],
    jobs: ['list jobs, newest first', () => import('./commands/jobs.ts')],
    job: ['show one job: what it waits for, and its timeline', () => import('./commands/job.ts')],
    'job cancel': ['cancel jobs', () => import('./commands/job-cancel.ts')],
    'job retry': [
      'put failed or blocked jobs back in the queue',
      () => import('./commands/job-retry.ts'),
    ],
    'job continue': [
      'continue the work of a job on its branch, or leave it a message',
      () => import('./commands/job-continue.ts'),
    ],
    'job choose': [
      'keep one of the variants of a work, and close the others',
      () => import('./commands/job-choose.ts'),
    ],
    review: [
      'comment on lines of a result, and send the comments with the next round',
      () => import('./commands/review.ts'),
    ],
    'job release': [
      'take running jobs from their agents',
      () => import('./commands/job-release.ts'),
    ],
    'job open': ['open the pages of jobs in the browser', () => import('./commands/job-open.ts')],
    'job log': ['print the output of a job, or search it', () => import('./commands/job-log.ts')],
    'job diff': [
      'show what a job has changed, by its branch in this clone',
      () => import('./commands/job-diff.ts'),
    ],
    watch: ['watch jobs and questions, and answer', () => import('./commands/watch/watch.ts')],
    inbox: [
      'list open questions, and which jobs wait for an answer',
      () => import('./commands/inbox.ts'),
    ],
    answer: ['read a question and answer it', () => import('./commands/answer.ts')],
    'queue pause': ['hand out no jobs of the workspace', () => import('./commands/queue-pause.ts')],
    'queue resume': ['hand out jobs again', () => import('./commands/queue-resume.ts')],
    runs: [
      'list runs, or show one: its milestones, jobs and cost',
      () => import('./commands/runs.ts'),
    ],
  },
  'The work of agents in this clone:': {
    'work list': [
      'list the branches that agents made in this clone',
      () => import('./commands/agent/work-list.ts'),
    ],
    'work show': [
      'show the work of a job: its checks and changed files',
      () => import('./commands/work-show.ts'),
    ],
    'work checkout': [
      "switch this clone to a job's branch",
      () => import('./commands/work-checkout.ts'),
    ],
    'work merge': [
      "merge a job's branch into the current one",
      () => import('./commands/work-merge.ts'),
    ],
    'work approve': [
      'approve the commit of a work that you have reviewed',
      () => import('./commands/work-approve.ts'),
    ],
    'work land': [
      "have its agent land an approved work in the repository's base",
      () => import('./commands/work-land.ts'),
    ],
    'work close': ['close a work that shall not land', () => import('./commands/work-close.ts')],
    'work prune': [
      'delete merged branches of agents, and files that no job uses',
      () => import('./commands/agent/work-prune.ts'),
    ],
  },
  'In a job:': {
    ask: [
      'ask a person from a command of a job, and print the answer',
      () => import('./commands/agent/ask.ts'),
    ],
    mcp: [
      "serve the job's own tools to a coding tool, over MCP",
      () => import('./commands/agent/mcp.ts'),
    ],
  },
  'Agents and repositories of the workspace:': {
    agents: [
      'list the agents of the workspace and what each holds',
      () => import('./commands/agents.ts'),
    ],
    'agent drain': [
      'let an agent finish its jobs and give it no more',
      () => import('./commands/agent-drain.ts'),
    ],
    'agent resume': ['give a drained agent jobs again', () => import('./commands/agent-resume.ts')],
    'agent stop': ['end an agent after its jobs, or now', () => import('./commands/agent-stop.ts')],
    'repo pause': ['hand out no job of a repository', () => import('./commands/repo-pause.ts')],
    'repo resume': [
      'hand out the jobs of a repository again',
      () => import('./commands/repo-resume.ts'),
    ],
    'repo archive': [
      'archive a repository, or make it active again',
      () => import('./commands/repo-archive.ts'),
    ],
  },
  'The team and what it knows:': {
    members: ['list the members of the workspace', () => import('./commands/members.ts')],
    'members invite': [
      'invite a person, and print the link',
      () => import('./commands/members-invite.ts'),
    ],
    'members role': ["change a member's role", () => import('./commands/members-role.ts')],
    'members remove': [
      'remove a member, or revoke an invitation',
      () => import('./commands/members-remove.ts'),
    ],
    tokens: ['list the tokens of programs and machines', () => import('./commands/tokens.ts')],
    'tokens create': [
      'create a token for a program, and print it once',
      () => import('./commands/tokens-create.ts'),
    ],
    'tokens revoke': [
      'revoke the token of a program, or log a machine out',
      () => import('./commands/tokens-revoke.ts'),
    ],
    context: ['list what the workspace knows, or search it', () => import('./commands/context.ts')],
    'context show': ['print a context item', () => import('./commands/context-show.ts')],
    'context add': [
      'add a note, a decision or a document',
      () => import('./commands/context-add.ts'),
    ],
  },
  'The hub:': {
    serve: ['run a hub on this machine', () => import('./commands/hub/serve.ts')],
    backup: [
      "copy a hub's data into a directory, while it runs or not",
      () => import('./commands/hub/backup.ts'),
    ],
    restore: [
      'restore a backup into an empty data directory',
      () => import('./commands/hub/restore.ts'),
    ],
    verify: ['check all data of a hub, or of a backup', () => import('./commands/hub/verify.ts')],
    'admin workspace create': [
      "create a workspace, directly in the hub's database",
      () => import('./commands/hub/admin-workspace-create.ts'),
    ],
    'admin members invite': [
      "invite a person to a workspace, directly in the hub's database",
      () => import('./commands/hub/admin-members-invite.ts'),
    ],
    'admin person reset-password': [
      "create a link for a person's new password, directly in the hub's database",
      () => import('./commands/hub/admin-person-reset-password.ts'),
    ],
    'admin chat-team add': [
      "send a chat team's messages to a workspace, directly in the hub's database",
      () => import('./commands/hub/admin-chat-team-add.ts'),
    ],
    'admin tokens create': [
      "create a token for a program, directly in the hub's database",
      () => import('./commands/hub/admin-tokens-create.ts'),
    ],
    'admin accept-restore': [
      'let hubs serve a database that other means than `signalbox restore` have restored',
      () => import('./commands/hub/admin-accept-restore.ts'),
    ],
  },
  'More:': {
    doctor: [
      'check what agents, commands and a hub need here',
      () => import('./commands/doctor.ts'),
    ],
    completion: [
      'print a completion script for bash, zsh or fish',
      () => import('./commands/completion.ts'),
    ],
  },
};

export const commandTable: readonly CommandEntry[] = Object.entries(groups).flatMap(
  ([group, rows]) =>
    Object.entries(rows).map(([path, [summary, load]]) => ({
      words: path.split(' '),
      group,
      summary,
      load,
    })),
);

/** The commands of the first help, which fits on one screen. */
export const dailyCommands: readonly string[] = [
  ...['up', 'login', 'repo link', 'agent start', 'enqueue', 'jobs', 'job'],
  ...['watch', 'inbox', 'answer', 'agents', 'work list', 'work merge', 'doctor'],
];

/** Descriptions of commands that only group others. */
export const parentSummaries: Readonly<Record<string, string>> = {
  repo: 'Link clones; list, pause and archive repositories.',
  agent: 'Start an agent or keep it running as a service; drain, resume and stop agents.',
  'agent service': 'Keep an agent running, as a service of systemd or launchd.',
  hook: 'Ask about permissions of your own coding sessions in your inbox, too.',
  queue: 'Pause the queue, and resume it.',
  work: 'Look at the work of agents, merge it, and clean up.',
  admin: 'Administer a hub through direct access to its database.',
  'admin workspace': 'Create workspaces.',
  'admin members': 'Invite people to workspaces.',
  'admin person': 'Help people to regain access to their accounts.',
  'admin tokens': 'Create tokens for programs.',
};

import type { CommandModule } from './command-module.ts';

/** A row of the help and the loader of its command. Only the command that runs is loaded. */
export interface CommandEntry {
  words: readonly string[];
  group: string;
  summary: string;
  load: () => Promise<{ command: CommandModule }>;
}

const groups = {
  machine: 'This machine:',
  jobs: 'Jobs:',
  work: 'The work of agents in this clone:',
  inJob: 'In a job:',
  fleet: 'Agents and repositories of the workspace:',
  team: 'The team and what it knows:',
  hub: 'The hub:',
} as const;

/** All commands, in the order of the help. */
export const commandTable: readonly CommandEntry[] = [
  {
    words: ['up'],
    group: groups.machine,
    summary: 'start a hub here with an agent for this clone, and open the console',
    load: () => import('./commands/hub/up.ts'),
  },
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
    summary: 'show who is logged in, where, and for how long',
    load: () => import('./commands/whoami.ts'),
  },
  {
    words: ['use'],
    group: groups.machine,
    summary: 'choose the workspace that commands take, among your logins',
    load: () => import('./commands/use.ts'),
  },
  {
    words: ['repo', 'link'],
    group: groups.machine,
    summary: 'link a clone, so that agents on this machine can work on it',
    load: () => import('./commands/repo-link.ts'),
  },
  {
    words: ['repo', 'list'],
    group: groups.machine,
    summary: 'list the repositories of the workspace and their clones on this machine',
    load: () => import('./commands/repo-list.ts'),
  },
  {
    words: ['repo', 'unlink'],
    group: groups.machine,
    summary: 'unlink a clone, so that agents on this machine no longer work on it',
    load: () => import('./commands/repo-unlink.ts'),
  },
  {
    words: ['agent', 'start'],
    group: groups.machine,
    summary: 'claim jobs and run them with a coding tool',
    load: () => import('./commands/agent/start-agent.ts'),
  },
  {
    words: ['agent', 'service', 'install'],
    group: groups.machine,
    summary: 'keep an agent running, as a service of systemd or launchd',
    load: () => import('./commands/agent/agent-install.ts'),
  },
  {
    words: ['agent', 'service', 'remove'],
    group: groups.machine,
    summary: 'end that service and remove it',
    load: () => import('./commands/agent/agent-remove.ts'),
  },
  {
    words: ['agent', 'service', 'status'],
    group: groups.machine,
    summary: 'show whether that service runs',
    load: () => import('./commands/agent/agent-status.ts'),
  },
  {
    words: ['hook', 'install'],
    group: groups.machine,
    summary: 'ask about permissions of your own coding sessions in your inbox, too',
    load: () => import('./commands/agent/hook-install.ts'),
  },
  {
    words: ['hook', 'remove'],
    group: groups.machine,
    summary: 'ask about them at the terminal only again',
    load: () => import('./commands/agent/hook-remove.ts'),
  },
  {
    words: ['hook', 'status'],
    group: groups.machine,
    summary: 'show where that hook is installed',
    load: () => import('./commands/agent/hook-status.ts'),
  },
  {
    words: ['hook', 'run'],
    group: groups.machine,
    summary: 'ask about one permission; coding tools run this',
    load: () => import('./commands/agent/hook-run.ts'),
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
    summary: 'add a job to the queue',
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
    words: ['job', 'cancel'],
    group: groups.jobs,
    summary: 'cancel jobs',
    load: () => import('./commands/job-cancel.ts'),
  },
  {
    words: ['job', 'retry'],
    group: groups.jobs,
    summary: 'put failed or blocked jobs back in the queue',
    load: () => import('./commands/job-retry.ts'),
  },
  {
    words: ['job', 'continue'],
    group: groups.jobs,
    summary: 'continue the work of a job on its branch, or leave it a message',
    load: () => import('./commands/job-continue.ts'),
  },
  {
    words: ['job', 'choose'],
    group: groups.jobs,
    summary: 'keep one of the variants of a work, and close the others',
    load: () => import('./commands/job-choose.ts'),
  },
  {
    words: ['review'],
    group: groups.jobs,
    summary: 'comment on lines of a result, and send the comments with the next round',
    load: () => import('./commands/review.ts'),
  },
  {
    words: ['job', 'release'],
    group: groups.jobs,
    summary: 'take running jobs from their agents',
    load: () => import('./commands/job-release.ts'),
  },
  {
    words: ['job', 'open'],
    group: groups.jobs,
    summary: 'open the pages of jobs in the browser',
    load: () => import('./commands/job-open.ts'),
  },
  {
    words: ['job', 'log'],
    group: groups.jobs,
    summary: 'print the output of a job, or search it',
    load: () => import('./commands/job-log.ts'),
  },
  {
    words: ['job', 'diff'],
    group: groups.jobs,
    summary: 'show what a job has changed, by its branch in this clone',
    load: () => import('./commands/job-diff.ts'),
  },
  {
    words: ['work', 'list'],
    group: groups.work,
    summary: 'list the branches that agents made in this clone',
    load: () => import('./commands/agent/work-list.ts'),
  },
  {
    words: ['work', 'show'],
    group: groups.work,
    summary: 'show the work of a job: its checks and changed files',
    load: () => import('./commands/work-show.ts'),
  },
  {
    words: ['work', 'checkout'],
    group: groups.work,
    summary: "switch this clone to a job's branch",
    load: () => import('./commands/work-checkout.ts'),
  },
  {
    words: ['work', 'merge'],
    group: groups.work,
    summary: "merge a job's branch into the current one",
    load: () => import('./commands/work-merge.ts'),
  },
  {
    words: ['work', 'approve'],
    group: groups.work,
    summary: 'approve the commit of a work that you have reviewed',
    load: () => import('./commands/work-approve.ts'),
  },
  {
    words: ['work', 'land'],
    group: groups.work,
    summary: "have its agent land an approved work in the repository's base",
    load: () => import('./commands/work-land.ts'),
  },
  {
    words: ['work', 'close'],
    group: groups.work,
    summary: 'close a work that shall not land',
    load: () => import('./commands/work-close.ts'),
  },
  {
    words: ['work', 'prune'],
    group: groups.work,
    summary: 'delete merged branches of agents, and files that no job uses',
    load: () => import('./commands/agent/work-prune.ts'),
  },
  {
    words: ['watch'],
    group: groups.jobs,
    summary: 'watch jobs and questions, and answer',
    load: () => import('./commands/watch/watch.ts'),
  },
  {
    words: ['inbox'],
    group: groups.jobs,
    summary: 'list open questions, and which jobs wait for an answer',
    load: () => import('./commands/inbox.ts'),
  },
  {
    words: ['answer'],
    group: groups.jobs,
    summary: 'read a question and answer it',
    load: () => import('./commands/answer.ts'),
  },
  {
    words: ['queue', 'pause'],
    group: groups.jobs,
    summary: 'hand out no jobs of the workspace',
    load: () => import('./commands/queue-pause.ts'),
  },
  {
    words: ['queue', 'resume'],
    group: groups.jobs,
    summary: 'hand out jobs again',
    load: () => import('./commands/queue-resume.ts'),
  },
  {
    words: ['runs'],
    group: groups.jobs,
    summary: 'list runs, or show one: its milestones, jobs and cost',
    load: () => import('./commands/runs.ts'),
  },
  {
    words: ['ask'],
    group: groups.inJob,
    summary: 'ask a person from a command of a job, and print the answer',
    load: () => import('./commands/agent/ask.ts'),
  },
  {
    words: ['mcp'],
    group: groups.inJob,
    summary: "serve the job's own tools to a coding tool, over MCP",
    load: () => import('./commands/agent/mcp.ts'),
  },
  {
    words: ['agents'],
    group: groups.fleet,
    summary: 'list the agents of the workspace and what each holds',
    load: () => import('./commands/agents.ts'),
  },
  {
    words: ['agent', 'drain'],
    group: groups.fleet,
    summary: 'let an agent finish its jobs and give it no more',
    load: () => import('./commands/agent-drain.ts'),
  },
  {
    words: ['agent', 'resume'],
    group: groups.fleet,
    summary: 'give a drained agent jobs again',
    load: () => import('./commands/agent-resume.ts'),
  },
  {
    words: ['agent', 'stop'],
    group: groups.fleet,
    summary: 'end an agent after its jobs, or now',
    load: () => import('./commands/agent-stop.ts'),
  },
  {
    words: ['repo', 'pause'],
    group: groups.fleet,
    summary: 'hand out no job of a repository',
    load: () => import('./commands/repo-pause.ts'),
  },
  {
    words: ['repo', 'resume'],
    group: groups.fleet,
    summary: 'hand out the jobs of a repository again',
    load: () => import('./commands/repo-resume.ts'),
  },
  {
    words: ['repo', 'archive'],
    group: groups.fleet,
    summary: 'archive a repository, or make it active again',
    load: () => import('./commands/repo-archive.ts'),
  },
  {
    words: ['members'],
    group: groups.team,
    summary: 'list the members of the workspace',
    load: () => import('./commands/members.ts'),
  },
  {
    words: ['members', 'invite'],
    group: groups.team,
    summary: 'invite a person, and print the link',
    load: () => import('./commands/members-invite.ts'),
  },
  {
    words: ['members', 'role'],
    group: groups.team,
    summary: "change a member's role",
    load: () => import('./commands/members-role.ts'),
  },
  {
    words: ['members', 'remove'],
    group: groups.team,
    summary: 'remove a member, or revoke an invitation',
    load: () => import('./commands/members-remove.ts'),
  },
  {
    words: ['tokens'],
    group: groups.team,
    summary: 'list the tokens of programs and machines',
    load: () => import('./commands/tokens.ts'),
  },
  {
    words: ['tokens', 'create'],
    group: groups.team,
    summary: 'create a token for a program, and print it once',
    load: () => import('./commands/tokens-create.ts'),
  },
  {
    words: ['tokens', 'revoke'],
    group: groups.team,
    summary: 'revoke the token of a program, or log a machine out',
    load: () => import('./commands/tokens-revoke.ts'),
  },
  {
    words: ['context'],
    group: groups.team,
    summary: 'list what the workspace knows, or search it',
    load: () => import('./commands/context.ts'),
  },
  {
    words: ['context', 'show'],
    group: groups.team,
    summary: 'print a context item',
    load: () => import('./commands/context-show.ts'),
  },
  {
    words: ['context', 'add'],
    group: groups.team,
    summary: 'add a note, a decision or a document',
    load: () => import('./commands/context-add.ts'),
  },
  {
    words: ['serve'],
    group: groups.hub,
    summary: 'run a hub on this machine',
    load: () => import('./commands/hub/serve.ts'),
  },
  {
    words: ['backup'],
    group: groups.hub,
    summary: "copy a hub's data into a directory, while it runs or not",
    load: () => import('./commands/hub/backup.ts'),
  },
  {
    words: ['restore'],
    group: groups.hub,
    summary: 'restore a backup into an empty data directory',
    load: () => import('./commands/hub/restore.ts'),
  },
  {
    words: ['verify'],
    group: groups.hub,
    summary: 'check all data of a hub, or of a backup',
    load: () => import('./commands/hub/verify.ts'),
  },
  {
    words: ['admin', 'workspace', 'create'],
    group: groups.hub,
    summary: "create a workspace, directly in the hub's database",
    load: () => import('./commands/hub/admin-workspace-create.ts'),
  },
  {
    words: ['admin', 'members', 'invite'],
    group: groups.hub,
    summary: "invite a person to a workspace, directly in the hub's database",
    load: () => import('./commands/hub/admin-members-invite.ts'),
  },
  {
    words: ['admin', 'person', 'reset-password'],
    group: groups.hub,
    summary: "create a link for a person's new password, directly in the hub's database",
    load: () => import('./commands/hub/admin-person-reset-password.ts'),
  },
  {
    words: ['admin', 'chat-team', 'add'],
    group: groups.hub,
    summary: "send a chat team's messages to a workspace, directly in the hub's database",
    load: () => import('./commands/hub/admin-chat-team-add.ts'),
  },
  {
    words: ['admin', 'tokens', 'create'],
    group: groups.hub,
    summary: "create a token for a program, directly in the hub's database",
    load: () => import('./commands/hub/admin-tokens-create.ts'),
  },
  {
    words: ['admin', 'accept-restore'],
    group: groups.hub,
    summary: 'let hubs serve a database that other means than `signalbox restore` have restored',
    load: () => import('./commands/hub/admin-accept-restore.ts'),
  },
  {
    words: ['doctor'],
    group: 'More:',
    summary: 'check what agents, commands and a hub need here',
    load: () => import('./commands/doctor.ts'),
  },
  {
    words: ['completion'],
    group: 'More:',
    summary: 'print a completion script for bash, zsh or fish',
    load: () => import('./commands/completion.ts'),
  },
];

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

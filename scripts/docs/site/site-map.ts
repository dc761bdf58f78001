/** A page of the site that is a Markdown file of the repository. */
export interface SitePage {
  /** Relative to the root of the repository. */
  source: string;
  /** Below `/docs/`, without an ending. */
  path: string;
  /** In the navigation. */
  title: string;
}

export interface SiteSection {
  title: string;
  pages: readonly SitePage[];
}

const page = (source: string, path: string, title: string): SitePage => ({ source, path, title });

/** The navigation, in the order of a reader's first week. */
export const siteSections: readonly SiteSection[] = [
  {
    title: 'Start',
    pages: [
      page('docs/start/claude-code.md', 'start/claude-code', 'With Claude Code'),
      page('docs/start/codex.md', 'start/codex', 'With Codex'),
      page('docs/start/any-command.md', 'start/any-command', 'With any command'),
      page('docs/start/two-agents.md', 'start/two-agents', 'Two agents that ask'),
      page('docs/start/ci.md', 'start/ci', 'In CI'),
    ],
  },
  {
    title: 'Guides',
    pages: [
      page('docs/guides/good-jobs.md', 'guides/good-jobs', 'Write a good job'),
      page('docs/guides/questions.md', 'guides/questions', 'Questions and answers'),
      page('docs/guides/notifications.md', 'guides/notifications', 'Hear of it'),
      page('docs/guides/assistants.md', 'guides/assistants', 'Assistants'),
      page('docs/guides/own-sessions.md', 'guides/own-sessions', 'Your own sessions'),
      page('docs/guides/landing.md', 'guides/landing', 'Land the work'),
      page('docs/guides/review.md', 'guides/review', 'Review the work'),
      page('docs/guides/several-machines.md', 'guides/several-machines', 'Machines and people'),
      page('docs/guides/places.md', 'guides/places', 'Where jobs work'),
      page('docs/guides/agent-service.md', 'guides/agent-service', 'Keep an agent running'),
      page('docs/guides/events-and-triggers.md', 'guides/events-and-triggers', 'Events, triggers'),
      page('docs/guides/context.md', 'guides/context', 'Context for a run'),
      page('docs/guides/model-calls.md', 'guides/model-calls', 'Model calls'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page('docs/reference/settings.md', 'reference/settings', 'Settings'),
      page(
        'docs/reference/agent-configuration.md',
        'reference/agent-configuration',
        'The configuration of the agent',
      ),
      page('docs/reference/job-tools.md', 'reference/job-tools', 'Tools of a job'),
      page('docs/JOB_STATES.md', 'reference/job-states', 'States of a job'),
      page('docs/reference/protocol.md', 'reference/protocol', 'Protocol'),
      page('docs/reference/specification.md', 'reference/specification', 'Specification'),
      page('docs/CONFORMANCE.md', 'reference/conformance', 'Conformance'),
      page('docs/GLOSSARY.md', 'reference/glossary', 'Glossary'),
    ],
  },
  {
    title: 'Operate',
    pages: [
      page('docs/operate/run.md', 'operate/run', 'Run a hub'),
      page('docs/operate/backup.md', 'operate/backup', 'Back up and restore'),
      page('docs/operate/postgresql.md', 'operate/postgresql', 'PostgreSQL, several hubs'),
      page('docs/operate/security.md', 'operate/security', 'Security and limits'),
      page('docs/operate/troubleshooting.md', 'operate/troubleshooting', 'Troubleshooting'),
    ],
  },
  {
    title: 'Understand',
    pages: [
      page('docs/ARCHITECTURE.md', 'architecture', 'Architecture'),
      page('docs/internals/queue.md', 'internals/queue', 'The leased queue'),
      page('docs/internals/databases.md', 'internals/databases', 'Databases'),
      page('docs/internals/cluster.md', 'internals/cluster', 'Several hubs'),
      page('docs/internals/search.md', 'internals/search', 'Context and search'),
      page('docs/internals/events.md', 'internals/events', 'Events, identity'),
      page('docs/internals/uploads.md', 'internals/uploads', 'Uploads'),
      page('docs/internals/agent.md', 'internals/agent', 'Agent, SDK, CLI, console'),
      page('docs/internals/tests.md', 'internals/tests', 'Tests'),
      page('docs/decisions/README.md', 'decisions', 'Decisions'),
      page('docs/compare.md', 'compare', 'Compared with others'),
    ],
  },
];

/** The page at `/docs`. */
export const indexPage = page('docs/README.md', '', 'Documentation');
/** Each decision is a page below this path; its file name gives the rest. */
export const decisionsFolder = 'docs/decisions';

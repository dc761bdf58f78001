import type { Agent } from '@signalbox/contract';
import { asTyped } from '../command-name.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import { formatAge } from '../terminal/duration.ts';
import { collectPages } from '../terminal/pages.ts';
import { printTable } from '../terminal/table.ts';
import { oneLine } from '../terminal/text.ts';
import {
  agentName,
  agentStatusText,
  colorAgentStatus,
  heldText,
  toolsText,
} from '../words/agent-text.ts';
import { shortId } from '../words/job-text.ts';

/**
 * `signalbox agents`: lists the agents of the workspace and what each holds. With `--json`: `{ok,
 * agents, counts}`.
 */
export const command = defineHubCommand<{ all?: true }>({
  describe(program) {
    program.option('--all', 'offline agents, too');
  },

  examples: [['signalbox agents --all --json | jq .counts', 'for a script']],

  async run({ io, options, client, workspaceId }) {
    const statuses = options.all ? undefined : (['online', 'draining'] as const);
    const { rows, last } = await collectPages(Infinity, 'agents', (page) =>
      client.agents.list({ workspaceId, statuses: statuses && [...statuses], ...page }),
    );
    const { counts } = last;
    if (io.json) return io.printJson({ ok: true, agents: rows, counts });
    if (rows.length > 0) printAgents(io, rows);
    const { offline } = counts;
    if (rows.length === 0 && offline === 0) {
      io.print(`No agents yet. ${asTyped('Start one: signalbox agent start')}`);
    } else if (rows.length === 0) {
      io.print(`No agent is online; ${offline} offline. List them: add --all.`);
    } else if (!options.all && offline > 0) {
      io.note(`${offline} offline: add --all.`);
    }
  },
});

function printAgents(io: Parameters<typeof printTable>[0], agents: readonly Agent[]): void {
  const { styles } = io;
  const nowMs = Date.now();
  printTable<Agent>(
    io,
    [
      {
        title: 'STATUS',
        text: (agent) => agentStatusText(agent, nowMs),
        style: (text, agent) => colorAgentStatus(styles, agent, text),
      },
      { title: 'AGENT', text: agentName, style: styles.bold },
      { title: 'HOLDS', text: (agent) => heldText(agent, nowMs), isFlexible: true },
      {
        title: 'TOOLS',
        text: (agent) => toolsText(agent) || '–',
        style: styles.dim,
        isOptional: true,
      },
      { title: 'SEEN', text: ({ lastSeenAt }) => formatAge(lastSeenAt, nowMs), style: styles.dim },
      { title: 'ID', text: ({ agentId }) => shortId(agentId), style: styles.dim, isOptional: true },
      {
        title: 'VERSION',
        text: ({ agentVersion }) => oneLine(agentVersion ?? '–'),
        style: styles.dim,
        isOptional: true,
      },
      {
        title: 'PLATFORM',
        text: ({ platform, arch }) => oneLine([platform, arch].filter(Boolean).join(' ')) || '–',
        style: styles.dim,
        isOptional: true,
      },
    ],
    agents,
  );
}

import type { Agent, AgentStatus } from '@signalbox/contract';
import { CircleCheck, CirclePause, CircleSlash, type LucideIcon } from 'lucide-react';
import { classNames } from '../class-names.ts';
import { agentStatusWords } from '../format/agent-words.ts';

const looks: Readonly<Record<AgentStatus, { icon: LucideIcon; tone: string; soft: string }>> = {
  online: { icon: CircleCheck, tone: 'text-done', soft: 'bg-done-soft' },
  draining: { icon: CirclePause, tone: 'text-warning', soft: 'bg-warning-soft' },
  offline: { icon: CircleSlash, tone: 'text-muted', soft: 'bg-pending-soft' },
};

/** The sign of a status, for rows; its word stands at their group. */
export function AgentSign({ status }: Pick<Agent, 'status'>) {
  const { icon: Sign, tone } = looks[status];
  return <Sign aria-hidden="true" className={tone} />;
}

/** The status of an agent as icon, word and colour. */
export function AgentBadge({ status }: Pick<Agent, 'status'>) {
  const { tone, soft } = looks[status];
  return (
    <span
      className={classNames(
        'inline-flex h-6 items-center gap-1 rounded-full pr-2.5 pl-1.5 text-xs font-medium',
        tone,
        soft,
      )}
    >
      <AgentSign status={status} />
      {agentStatusWords[status]}
    </span>
  );
}

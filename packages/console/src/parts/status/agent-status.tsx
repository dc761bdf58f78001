import type { Agent, AgentStatus } from '@signalbox/contract';
import { classNames } from '../../class-names.ts';
import { agentStatusWords } from '../../format/agent-words.ts';
import { Icon, type IconName } from '../page/icon.tsx';

const looks: Readonly<Record<AgentStatus, { icon: IconName; tone: string; soft: string }>> = {
  online: { icon: 'circle-check', tone: 'text-done', soft: 'bg-done-soft' },
  draining: { icon: 'circle-pause', tone: 'text-warning', soft: 'bg-warning-soft' },
  offline: { icon: 'circle-slash', tone: 'text-muted', soft: 'bg-pending-soft' },
};

interface AgentSignProps extends Pick<Agent, 'status'> {
  /** Online, and claims nothing at the moment. */
  isPaused?: boolean;
}

/** The sign of a status, for rows; its word stands at their group. */
export function AgentSign({ status, isPaused = false }: AgentSignProps) {
  const { icon, tone } = looks[isPaused ? 'draining' : status];
  return <Icon name={icon} className={tone} />;
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

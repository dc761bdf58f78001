import type { Agent } from '@signalbox/contract';
import { Link } from '@tanstack/react-router';
import { nameOfAgent } from '../../api/fleet-queries.ts';
import { classNames } from '../../class-names.ts';
import { commandWords, pauseWords } from '../../format/agent-words.ts';
import { plainText } from '../../format/text.ts';
import { toolsWords } from '../../format/tool-words.ts';
import { innerLinkClasses, rowLinkClasses } from '../page/page-parts.tsx';
import { AgentSign } from '../status/agent-status.tsx';
import { RelativeTime, useNow } from '../text/relative-time.tsx';

interface AgentRowProps {
  agent: Agent;
  slug: string;
  /** Labels of repositories by ID. */
  labels: ReadonlyMap<string, string>;
}

/** One agent: what it holds, what it serves, and what it runs on. */
export function AgentRow({ agent, slug, labels }: AgentRowProps) {
  const { agentId, command } = agent;
  const pause = useNow((nowMs) => pauseWords(agent, nowMs));
  return (
    <li className="relative grid min-h-row grid-cols-[1rem_minmax(0,1fr)_auto] items-center gap-x-3 border-b px-3 py-1.5 last:border-b-0 hover:bg-hover pointer-coarse:min-h-11 sm:px-4 lg:grid-cols-[1rem_minmax(7rem,11rem)_minmax(0,1fr)_minmax(0,13rem)_8rem_5rem] lg:py-0">
      <AgentSign status={agent.status} isPaused={pause?.tool === null} />
      <div className="flex min-w-0 items-baseline gap-2">
        <Link to="/w/$slug/agents/$agentId" params={{ slug, agentId }} className={rowLinkClasses}>
          {plainText(nameOfAgent(agent))}
        </Link>
        {command && <span className="shrink-0 text-xs text-warning">{commandWords(command)}</span>}
        {pause && (
          <span title={pause.message} className="shrink-0 text-xs text-warning">
            {pause.tool === null ? 'Paused' : `${pause.tool} paused`} until {pause.until}
          </span>
        )}
      </div>
      <Held agent={agent} slug={slug} idleWord={pause?.tool === null ? pause.reason : undefined} />
      <p className="hidden truncate text-sm text-muted lg:block" title={toolsWords(agent)}>
        {[toolsWords(agent), servesOf(agent, labels)].filter(Boolean).join(' · ')}
      </p>
      <p className="hidden truncate text-xs text-muted tabular-nums lg:block">
        {[plainText(agent.agentVersion ?? ''), platformOf(agent)].filter(Boolean).join(' · ')}
      </p>
      <RelativeTime
        at={agent.lastSeenAt}
        className="row-start-1 text-right text-xs text-muted tabular-nums max-lg:col-start-3 lg:row-auto"
      />
    </li>
  );
}

interface HeldProps {
  agent: Agent;
  slug: string;
  /** Shown for an agent that holds no job. */
  idleWord?: string | undefined;
}

/** The newest job that the agent holds, and how many more. */
function Held({ agent, slug, idleWord }: HeldProps) {
  const { held, heldCount, status } = agent;
  const [first] = held;
  const others = heldCount - (first ? 1 : 0);
  return (
    <p
      className={classNames(
        'flex min-w-0 items-center gap-2 text-sm max-lg:col-span-2 max-lg:col-start-2',
        heldCount === 0 && idleWord === undefined && 'max-lg:hidden',
      )}
    >
      {first && (
        <Link
          to="/w/$slug/jobs/$jobId"
          params={{ slug, jobId: first.jobId }}
          className={innerLinkClasses}
        >
          <span className="truncate">{plainText(first.title) || first.jobId}</span>
        </Link>
      )}
      {others > 0 && (
        <span className="shrink-0 text-xs text-muted">
          {first ? `and ${others} more` : `${others} model ${others === 1 ? 'call' : 'calls'}`}
        </span>
      )}
      {heldCount === 0 && status !== 'offline' && (
        <span className="truncate text-faint">{idleWord ?? 'Idle'}</span>
      )}
    </p>
  );
}

function servesOf({ repoIds, capabilities }: Agent, labels: ReadonlyMap<string, string>): string {
  const names = repoIds.map((repoId) => labels.get(repoId) || repoId);
  const own = Object.entries(capabilities.labels ?? {}).map(([name, value]) => `${name}=${value}`);
  return plainText([names.join(', '), ...own].filter((part) => part !== '').join(' · '));
}

export function platformOf({ platform, arch }: Agent): string {
  return plainText([platform, arch].filter((part) => part !== null).join(' '));
}

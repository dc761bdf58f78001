import type { WaitingAgent, WaitingFor, WaitingJob } from '@signalbox/contract';
import { Link } from '@tanstack/react-router';
import { statusWords, waitingWords } from '../../format/job-words.ts';
import { plainText } from '../../format/text.ts';
import { formatMoment } from '../../format/time.ts';
import { Icon } from '../page/icon.tsx';
import { LinkedText } from '../text/linked-text.tsx';
import { RelativeTime, useNow } from '../text/relative-time.tsx';
import { AgentLink } from './record-links.tsx';

interface WaitingNoteProps {
  slug: string;
  waitingFor: WaitingFor;
  queuePosition: number | null;
}

/** The reason why the job is waiting, with links to what holds it up. */
export function WaitingNote({ slug, waitingFor, queuePosition }: WaitingNoteProps) {
  const { reason, message, jobIds = [], jobs = [], agents = [], until } = waitingFor;
  const known = new Set(jobs.map(({ jobId }) => jobId));
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-1.5 rounded-lg border bg-surface p-4 text-sm">
      <h2 className="flex items-center gap-2 font-semibold text-muted">
        <Icon name="clock" />
        {waitingWords[reason]}
      </h2>
      {until !== undefined && <Until at={until} />}
      {/* Of busy agents, the message says no more than the heading. */}
      {until === undefined && reason !== 'agents_at_capacity' && (
        <p className="wrap-anywhere">
          <LinkedText text={message} />
        </p>
      )}
      {agents.length > 0 && (
        <ul aria-label="Agents" className="grid gap-1">
          {agents.map((agent) => (
            <AgentItem key={agent.agentId} slug={slug} agent={agent} />
          ))}
        </ul>
      )}
      {jobIds.length > 0 && (
        <ul aria-label="Jobs" className="grid grid-cols-[minmax(0,1fr)]">
          {jobs.map((job) => (
            <WaitingJobItem key={job.jobId} slug={slug} job={job} />
          ))}
          {jobIds
            .filter((jobId) => !known.has(jobId))
            .map((jobId) => (
              <li key={jobId}>
                <JobLink slug={slug} jobId={jobId} />
              </li>
            ))}
        </ul>
      )}
      {queuePosition !== null && (
        <p className="text-muted">Position in the queue of its repository: {queuePosition}.</p>
      )}
    </section>
  );
}

/** When the reason ends: `Until 14:02, in 12 min`. */
function Until({ at }: { at: string }) {
  const moment = useNow((nowMs) => formatMoment(at, nowMs));
  return (
    <p>
      Until {moment}, <RelativeTime at={at} />.
    </p>
  );
}

function AgentItem({ slug, agent }: { slug: string; agent: WaitingAgent }) {
  const { agentId, displayName, obstacle, until } = agent;
  const moment = useNow((nowMs) => (until === undefined ? '' : formatMoment(until, nowMs)));
  return (
    <li className="wrap-anywhere">
      <AgentLink slug={slug} name={plainText(displayName) || agentId} agentId={agentId} />{' '}
      <span className="text-muted">
        {plainText(obstacle)}
        {moment !== '' && ` (until ${moment})`}
      </span>
    </li>
  );
}

const noteLinkClasses = 'text-accent underline underline-offset-2';

function WaitingJobItem({ slug, job }: { slug: string; job: WaitingJob }) {
  const { jobId, title, status } = job;
  return (
    <li className="flex min-w-0 flex-wrap items-baseline gap-x-2 pointer-coarse:py-2.5">
      <Link
        to="/w/$slug/jobs/$jobId"
        params={{ slug, jobId }}
        className={`min-w-0 truncate py-0.5 ${noteLinkClasses}`}
      >
        {plainText(title) || jobId}
      </Link>
      <span className="text-muted">{statusWords[status]}</span>
    </li>
  );
}

/** A link to another job by its ID. */
export function JobLink({ slug, jobId }: { slug: string; jobId: string }) {
  return (
    <Link
      to="/w/$slug/jobs/$jobId"
      params={{ slug, jobId }}
      className="block w-fit max-w-full truncate py-1 font-mono text-xs text-accent underline underline-offset-2 pointer-coarse:py-3.5"
    >
      {jobId}
    </Link>
  );
}

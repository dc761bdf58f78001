import type { Job, WaitingFor } from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { openQuestionsQuery } from '../api/job-queries.ts';
import { PauseBanners } from '../job-list/pause-banner.tsx';
import { viewerReason } from '../parts/form/action-button.tsx';
import { Panel } from '../parts/record/facts.tsx';
import { JobFacts } from '../parts/record/job-facts.tsx';
import { WaitingNote } from '../parts/record/job-notes.tsx';
import { LinkedText } from '../parts/text/linked-text.tsx';
import { AgentMessage } from './agent-message.tsx';
import { AttemptsPanel } from './attempts-panel.tsx';
import { CanceledNote } from './canceled-note.tsx';
import { ContextPanel } from './context-panel.tsx';
import { DecisionsCard } from './decisions-card.tsx';
import { EvidenceCard } from './evidence-card.tsx';
import { FailureCard } from './failure-card.tsx';
import { LatestOutput } from './latest-output.tsx';
import { OpenQuestions } from './open-questions.tsx';
import { VariantsPanel } from './variants-panel.tsx';
import { WorkCard, type WorkOfJob } from './work-card.tsx';

/** A longer prompt is folded, so that what follows stays in sight. */
const PROMPT_FOLD_CHARS = 1_500;

interface OverviewTabProps {
  job: Job;
  slug: string;
  role: string;
  repositoryLabel: string;
  agentName: string | null;
  waitingFor: WaitingFor | null;
  queuePosition: number | null;
  work: WorkOfJob;
}

/** The first tab of a job: its state, and the next step of a person. */
export function OverviewTab(props: OverviewTabProps) {
  const { job, slug, role, repositoryLabel, agentName, waitingFor, queuePosition } = props;
  const isAsking = job.waitingOnUncertaintyId !== null;
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="grid min-w-0 gap-4">
        <OpenQuestions job={job} />
        {/* The question says what the job waits for. */}
        {waitingFor && !isAsking && (
          <WaitingNote slug={slug} waitingFor={waitingFor} queuePosition={queuePosition} />
        )}
        {waitingFor?.reason === 'queue_paused' && (
          <PauseBanners
            workspaceId={job.workspaceId}
            labels={new Map([[job.repoId, repositoryLabel]])}
            repoId={job.repoId}
            disabledReason={viewerReason(role)}
          />
        )}
        {job.status === 'canceled' && <CanceledNote job={job} />}
        {job.outcome === 'failed' ? <FailureCard job={job} /> : <MessageUnlessAsked job={job} />}
        {job.status === 'running' && <LatestOutput job={job} />}
        {props.work.variants && (
          <VariantsPanel job={job} variants={props.work.variants} slug={slug} role={role} />
        )}
        <EvidenceCard job={job} />
        <DecisionsCard job={job} slug={slug} />
        <div id="continue" className="grid scroll-mt-32 empty:hidden">
          <WorkCard job={job} work={props.work} slug={slug} role={role} />
        </div>
        <AttemptsPanel job={job} />
        <Panel title="Prompt">
          <Prompt text={job.prompt} />
        </Panel>
        <ContextPanel job={job} slug={slug} />
      </div>
      <aside className="grid min-w-0 gap-4">
        <Panel title="Details">
          <JobFacts job={job} slug={slug} repositoryLabel={repositoryLabel} agentName={agentName} />
        </Panel>
      </aside>
    </div>
  );
}

/**
 * The last message of an agent that asks is its question, or the first sentences of it, which has a
 * card of its own.
 */
function MessageUnlessAsked({ job }: { job: Job }) {
  const { data, isPending } = useQuery(openQuestionsQuery(job.workspaceId, job.jobId));
  const message = job.message?.trim() ?? '';
  const isAsked =
    data?.uncertainties.some(({ prompt }) => prompt?.trim().startsWith(message)) ?? false;
  return isAsked || (isPending && job.outcome === 'blocked') ? null : <AgentMessage job={job} />;
}

function Prompt({ text }: { text: string }) {
  const body = (
    <p className="text-sm wrap-anywhere whitespace-pre-wrap">
      <LinkedText text={text} />
    </p>
  );
  if (text.length <= PROMPT_FOLD_CHARS) return body;
  return (
    <details>
      <summary className="cursor-pointer rounded-sm text-sm text-muted hover:text-ink">
        {text.length.toLocaleString('en')} characters. Show the whole prompt
      </summary>
      <div className="mt-3">{body}</div>
    </details>
  );
}

import type { Job, WaitingFor } from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
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
import { nameOf, VariantsPanel } from './variants-panel.tsx';
import { WorkCard, type WorkOfJob } from './work-card.tsx';
import { isShownFor, WorkState } from './work-state.tsx';

const VariantsDiff = lazy(async () => ({
  default: (await import('./variants-diff.tsx')).VariantsDiff,
}));

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
        {job.landsJobId && (
          <WorkNote slug={slug} jobId={job.landsJobId}>
            This job brings an approved commit into the base branch.
          </WorkNote>
        )}
        {job.reviewsJobId && (
          <WorkNote slug={slug} jobId={job.reviewsJobId}>
            This job reviews a commit. Its findings are on the lines of that work.
          </WorkNote>
        )}
        {job.status === 'canceled' && <CanceledNote job={job} />}
        {job.outcome === 'failed' ? <FailureCard job={job} /> : <MessageUnlessAsked job={job} />}
        {props.work.work && isShownFor(job, props.work.work) && (
          <WorkState job={job} work={props.work.work} slug={slug} role={role} />
        )}
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
      {/* Two columns of code need all of the width. */}
      {props.work.variants && (
        <div className="min-w-0 lg:col-span-2">
          <Suspense fallback={null}>
            <VariantsDiff
              workspaceId={job.workspaceId}
              variants={props.work.variants}
              nameOf={nameOf}
            />
          </Suspense>
        </div>
      )}
    </div>
  );
}

/** Says in a sentence how a job belongs to the work of another. */
function WorkNote({ slug, jobId, children }: { slug: string; jobId: string; children: ReactNode }) {
  return (
    <p className="rounded-lg border bg-surface p-4 text-sm">
      {children}{' '}
      <Link
        to="/w/$slug/jobs/$jobId"
        params={{ slug, jobId }}
        className="text-accent underline underline-offset-2"
      >
        Open its work
      </Link>
    </p>
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

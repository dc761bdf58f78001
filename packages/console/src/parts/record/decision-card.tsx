import type { Membership } from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type DecisionView, decisionQuery } from '../../api/decision-queries.ts';
import { hasCode } from '../../api/hub-error.ts';
import { classNames } from '../../class-names.ts';
import { capText, decisionKindWords } from '../../format/decision-words.ts';
import { plainText } from '../../format/text.ts';
import { useReportShown } from '../../live/report-page.ts';
import { viewerReason } from '../form/action-button.tsx';
import { Button } from '../form/button.tsx';
import { DecisionAnswer } from '../form/decision-answer.tsx';
import { DecisionForm } from '../form/decision-form.tsx';
import { Icon } from '../page/icon.tsx';
import { EndState } from '../status/end-state.tsx';
import { ReadFailure } from '../status/read-failure.tsx';
import { SkeletonBar } from '../status/skeleton.tsx';
import { Markdown } from '../text/markdown.tsx';
import { RelativeTime } from '../text/relative-time.tsx';
import { DecisionFacts } from './decision-facts.tsx';
import { ToldPeople } from './told-people.tsx';
import { useDecision } from './use-decision.ts';

const workspace = getRouteApi('/w/$slug');
/** Longer questions and backgrounds are folded. */
const TEXT_CHARS_SHOWN = 600;

export interface DecisionCardProps {
  workspace: Pick<Membership, 'workspaceId' | 'slug' | 'role'>;
  uncertaintyId: string;
  /** The level of the question's heading on the page. */
  level?: 1 | 2;
  /** Hides the job where the page is about that job. */
  isOnJobPage?: boolean;
  /** The other open questions with the same text and choices. */
  alikeIds?: readonly string[] | undefined;
  /** The page says already that the hub does not answer, or refuses. */
  isFailureSaid?: boolean;
  /** Beside the answer that was given: where to go next. */
  next?: ReactNode;
}

/**
 * A question of an agent with everything that a person needs to answer it. The same on the page of
 * the inbox and at the top of a blocked job. What the agent wrote has no links, and is cut.
 */
export function DecisionCard(props: DecisionCardProps) {
  const { workspaceId } = props.workspace;
  const read = useQuery(decisionQuery(workspaceId, props.uncertaintyId));
  useReportShown(workspaceId, props.uncertaintyId, read.dataUpdatedAt);
  if (read.isPending) return <CardSkeleton />;
  if (hasCode(read.error, 'UNCERTAINTY_NOT_FOUND')) return <NotFound level={props.level ?? 2} />;
  if (!read.data) {
    return props.isFailureSaid ? null : <ReadFailure read={read} />;
  }
  // A new question is a new card: nothing that was typed for the last one stays.
  return <Card key={props.uncertaintyId} view={read.data} {...props} />;
}

function Card({ view, ...props }: DecisionCardProps & { view: DecisionView }) {
  const { level = 2, next, isOnJobPage = false } = props;
  const { uncertainty, situation } = view;
  const { workspaceId, slug, role } = props.workspace;
  const { person } = workspace.useRouteContext();
  const [isReplacing, setReplacing] = useState(false);
  const decision = useDecision({ workspaceId, uncertaintyId: uncertainty.uncertaintyId });
  const isAsked = uncertainty.status !== 'resolved';
  const disabledReason = viewerReason(role);
  const job = situation?.job ?? null;
  return (
    <article
      aria-labelledby={`question-${uncertainty.uncertaintyId}`}
      className={classNames(
        'grid min-w-0 grid-cols-[minmax(0,1fr)] gap-5 rounded-lg border border-l-[3px] bg-surface p-4 sm:p-6',
        isAsked ? 'border-l-attention' : 'border-l-done',
      )}
    >
      <Question view={view} level={level} />
      {uncertainty.resolution && (
        <DecisionAnswer
          uncertainty={uncertainty}
          resolution={uncertainty.resolution}
          job={job}
          decision={decision}
          personId={person.personId}
          onReplace={() => setReplacing(true)}
          isReplacing={isReplacing}
          disabledReason={disabledReason}
          next={next}
        />
      )}
      {(isAsked || isReplacing) && (
        <DecisionForm
          uncertainty={uncertainty}
          job={job}
          workspaceId={workspaceId}
          decision={decision}
          supersede={!isAsked}
          alikeIds={isAsked ? props.alikeIds : undefined}
          disabledReason={disabledReason}
          onDone={() => setReplacing(false)}
        />
      )}
      <DecisionFacts
        uncertainty={uncertainty}
        situation={situation}
        slug={slug}
        isOnJobPage={isOnJobPage}
      />
      <ToldPeople workspaceId={workspaceId} slug={slug} uncertaintyId={uncertainty.uncertaintyId} />
    </article>
  );
}

function Question({ view, level }: { view: DecisionView; level: 1 | 2 }) {
  const { uncertainty, situation } = view;
  const { uncertaintyId, kind, prompt, context, title, deadlineAt, status } = uncertainty;
  const Heading = level === 1 ? 'h1' : 'h2';
  const waitingJobs = situation?.waitingJobs ?? 0;
  return (
    <div className="grid gap-2">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
        <span className="flex items-center gap-1.5 font-medium text-attention">
          <Icon name="circle-question-mark" className="size-3.5" />
          {decisionKindWords[kind]}
        </span>
        {situation?.repository && <span>{plainText(situation.repository.label)}</span>}
        {waitingJobs > 0 && (
          <span>{waitingJobs === 1 ? '1 job waits' : `${waitingJobs} jobs wait`}</span>
        )}
        {deadlineAt && status === 'open' && (
          <span className="flex items-center gap-1 font-medium text-warning">
            <Icon name="clock" className="size-3.5" />
            due <RelativeTime at={deadlineAt} />
          </span>
        )}
      </p>
      <Heading
        id={`question-${uncertaintyId}`}
        className="text-lg leading-snug font-semibold wrap-anywhere"
      >
        {plainText(title) || uncertaintyId}
      </Heading>
      <AgentText text={withoutTitle(prompt, title)} what="question" />
      <AgentText text={context} what="background" />
    </div>
  );
}

/** The rest of a question whose first line is the heading. */
function withoutTitle(prompt: string, title: string): string {
  const text = prompt.trim();
  return text.startsWith(title) ? text.slice(title.length) : text;
}

/** Markdown of an agent: without links, and folded when it is long. */
function AgentText({ text, what }: { text: string; what: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.trim().length > TEXT_CHARS_SHOWN;
  if (text.trim() === '') return null;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] justify-items-start gap-1">
      <div className="w-full max-w-prose text-base text-muted">
        <Markdown text={isWhole ? text.trim() : beginningOf(text)} hasLinks={false} />
      </div>
      {isLong && (
        <Button look="quiet" className="-ml-3" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : `Show the whole ${what}`}
        </Button>
      )}
    </div>
  );
}

/** Cut between lines, so that the marks of Markdown stay whole. */
function beginningOf(text: string): string {
  const cut = capText(text, TEXT_CHARS_SHOWN);
  if (cut.length >= plainText(text).trim().length) return cut;
  const lines = cut.split('\n').slice(0, -1);
  const fences = lines.filter((line) => line.trimStart().startsWith('```')).length;
  if (lines.length === 0) return cut;
  return [...lines, ...(fences % 2 === 1 ? ['```'] : []), '', '…'].join('\n');
}

function CardSkeleton() {
  return (
    <div role="status" className="grid gap-5 rounded-lg border bg-surface p-4 sm:p-6">
      <span className="sr-only">Loading the question …</span>
      <SkeletonBar className="w-20" />
      <SkeletonBar className="h-5 w-3/5" />
      {[0, 1, 2].map((row) => (
        <SkeletonBar key={row} className="h-12 w-full rounded-lg" />
      ))}
      <SkeletonBar className="h-8 w-28" />
    </div>
  );
}

function NotFound({ level }: { level: 1 | 2 }) {
  return (
    <div className="rounded-lg border bg-surface p-8">
      {level === 2 ? (
        <p className="text-center text-sm text-muted">
          This question does not exist in this workspace. Check the address.
        </p>
      ) : (
        <EndState icon="triangle-alert" tone="neutral" title="Question not found in this workspace">
          <p>Check the address, or look for the question in another workspace.</p>
        </EndState>
      )}
    </div>
  );
}

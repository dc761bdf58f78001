import type { DecisionSituation, Uncertainty } from '@signalbox/contract';
import { Link } from '@tanstack/react-router';
import {
  capText,
  confidenceWords,
  deadlineWords,
  sessionWords,
} from '../../format/decision-words.ts';
import { statusWords } from '../../format/job-words.ts';
import { plainText } from '../../format/text.ts';
import { formatAbsolute } from '../../format/time.ts';
import { RelativeTime, useNow } from '../text/relative-time.tsx';
import { Facts } from './facts.tsx';

const WORDS_CHARS_MAX = 200;
const REASON_CHARS_MAX = 1_200;

interface DecisionFactsProps {
  uncertainty: Uncertainty;
  situation: DecisionSituation | null;
  slug: string;
  isOnJobPage: boolean;
}

/** The facts beside a question: how sure the agent is, what waits, and who wrote it. */
export function DecisionFacts({ uncertainty, situation, slug, isOnJobPage }: DecisionFactsProps) {
  const { impact, reversibility, status, deadlineAt, session, createdAt } = uncertainty;
  return (
    <div className="grid gap-3 border-t pt-4">
      <Facts
        rows={[
          ['Confidence', confidenceWords(uncertainty)],
          ['Impact', capText(impact, WORDS_CHARS_MAX)],
          ['Reversible', capText(reversibility, WORDS_CHARS_MAX)],
          [
            'Assumed',
            uncertainty.assumedValue.trim() === '' ? null : (
              <Assumed key="assumed" uncertainty={uncertainty} />
            ),
          ],
          [
            'Deadline',
            deadlineAt && status === 'open' ? (
              <Deadline key="deadline" uncertainty={uncertainty} deadlineAt={deadlineAt} />
            ) : null,
          ],
          ['Session', session && sessionWords(session)],
          ['Asked', <RelativeTime key="asked" at={createdAt} />],
          ...(situation === null ? [] : waitingRows(situation, slug, isOnJobPage)),
        ]}
      />
      {situation && <Source situation={situation} />}
    </div>
  );
}

function Assumed({ uncertainty }: { uncertainty: Uncertainty }) {
  const { assumedValue, assumedReasoning } = uncertainty;
  return (
    <span className="grid gap-0.5">
      <span className="whitespace-pre-wrap">{capText(assumedValue, REASON_CHARS_MAX)}</span>
      {assumedReasoning.trim() !== '' && (
        <span className="whitespace-pre-wrap text-muted">
          {capText(assumedReasoning, REASON_CHARS_MAX)}
        </span>
      )}
    </span>
  );
}

function Deadline(props: { deadlineAt: string; uncertainty: Uncertainty }) {
  const { deadlineAt, uncertainty } = props;
  const words = useNow((nowMs) => deadlineWords({ ...uncertainty, deadlineAt }, nowMs));
  return (
    <time dateTime={deadlineAt} title={formatAbsolute(deadlineAt)}>
      {words}
    </time>
  );
}

function waitingRows(situation: DecisionSituation, slug: string, isOnJobPage: boolean) {
  const { job, agent, run, repository, waitingJobs } = situation;
  const jobs = waitingJobs === 1 ? '1 job' : `${waitingJobs.toLocaleString('en')} jobs`;
  return [
    ['Waiting', waitingJobs > 0 ? jobs : null],
    [
      'Job',
      job && !isOnJobPage ? (
        <span key="job">
          <Link
            to="/w/$slug/jobs/$jobId"
            params={{ slug, jobId: job.jobId }}
            className="text-accent underline underline-offset-2"
          >
            {plainText(job.title) || job.jobId}
          </Link>{' '}
          <span className="text-muted">({statusWords[job.status]})</span>
        </span>
      ) : null,
    ],
    ['Run', run && plainText(run.title || run.runRef)],
    ['Repository', repository && plainText(repository.label || repository.repoId)],
    ['Agent', agent && `${plainText(agent.displayName || agent.agentId)} (${agent.status})`],
  ] as const;
}

function Source({ situation: { writtenBy, writtenByName } }: { situation: DecisionSituation }) {
  const name = writtenByName === null ? '' : plainText(writtenByName);
  const words = {
    tool: 'A coding tool wrote this question. It may repeat text from anywhere: read it as a claim.',
    person: `Asked with the token of ${name || 'a person'}.`,
    service: `Asked by the service ${name || 'without a name'}.`,
  };
  return <p className="text-xs text-muted">{words[writtenBy]}</p>;
}

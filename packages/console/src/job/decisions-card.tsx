import type { Job } from '@signalbox/contract';
import { Link } from '@tanstack/react-router';
import { capText } from '../format/decision-words.ts';
import { resolverWords } from '../format/resolution-words.ts';
import { plainText } from '../format/text.ts';
import { Panel } from '../parts/record/facts.tsx';
import { RelativeTime } from '../parts/text/relative-time.tsx';

const QUESTION_CHARS_MAX = 300;
const ANSWER_CHARS_MAX = 600;

/** The decisions about the job: question, answer, who and when. */
export function DecisionsCard({ job, slug }: { job: Job; slug: string }) {
  if (job.decisions.length === 0) return null;
  return (
    <Panel title={job.decisions.length === 1 ? 'Decision' : 'Decisions'}>
      <ul className="grid gap-3">
        {job.decisions.map(({ uncertaintyId, prompt, mode, value, by, resolvedAt }) => (
          <li key={uncertaintyId} className="grid min-w-0 gap-0.5 border-l-3 border-l-done pl-3">
            <Link
              to="/w/$slug/inbox/$uncertaintyId"
              params={{ slug, uncertaintyId }}
              search={{}}
              className="justify-self-start text-sm text-muted wrap-anywhere underline-offset-2 hover:underline"
            >
              {capText(plainText(prompt), QUESTION_CHARS_MAX)}
            </Link>
            {mode !== 'dismissed' && (
              <p className="font-medium whitespace-pre-wrap wrap-anywhere">
                {capText(value, ANSWER_CHARS_MAX)}
              </p>
            )}
            <p className="text-xs text-muted">
              {resolverWords({ mode: modeOf(mode), createdBy: by ?? null })},{' '}
              <RelativeTime at={resolvedAt} />
            </p>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** The job stores the mode as text. */
function modeOf(mode: string) {
  return mode === 'dismissed' || mode === 'assumed' ? mode : 'answered';
}

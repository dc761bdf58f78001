import type { Resolution, Uncertainty } from '@signalbox/contract';
import { lazy, type ReactNode, Suspense, useEffect, useId, useRef, useState } from 'react';
import { hasCode } from '../../api/hub-error.ts';
import { capText, choicesOf } from '../../format/decision-words.ts';
import {
  type AskingJob,
  effectWords,
  handOverWords,
  replacedWords,
  resolverWords,
} from '../../format/resolution-words.ts';
import { canBeRule } from '../../format/rule-words.ts';
import { formatAbsolute, formatClock } from '../../format/time.ts';
import { Icon } from '../page/icon.tsx';
import type { useDecision } from '../record/use-decision.ts';
import { ErrorNotice } from '../status/error-notice.tsx';
import { useNow } from '../text/relative-time.tsx';
import { ActionButton } from './action-button.tsx';
import { Button } from './button.tsx';

const RuleDialog = lazy(async () => ({
  default: (await import('../record/rule-dialog.tsx')).RuleDialog,
}));

const VALUE_CHARS_MAX = 1_200;
/** Of earlier answers, the card shows a few, shortened; the audit log has all. */
const REPLACED_SHOWN = 5;
const REPLACED_CHARS_MAX = 200;

interface DecisionAnswerProps {
  uncertainty: Uncertainty;
  resolution: Resolution;
  /** The job that asked. */
  job: AskingJob;
  decision: ReturnType<typeof useDecision>;
  personId: string;
  isReplacing: boolean;
  onReplace: () => void;
  disabledReason: string | undefined;
  next: ReactNode;
}

/** The answer that applies: what, by whom and when; and the ways back. */
export function DecisionAnswer(props: DecisionAnswerProps) {
  const { uncertainty, resolution, job, decision, personId } = props;
  const boxRef = useRef<HTMLElement>(null);
  const whoId = useId();
  const isMine = resolution.createdById === personId;
  const isOfSession = uncertainty.session !== undefined;
  const isJustGiven = decision.answer.isSuccess;
  // The button that had the focus is gone.
  useEffect(() => {
    if (isJustGiven) boxRef.current?.focus();
  }, [isJustGiven]);
  const hasLost = hasCode(decision.answer.error, 'ALREADY_RESOLVED') && !isMine;
  return (
    <section
      ref={boxRef}
      tabIndex={-1}
      aria-label="Answer"
      aria-describedby={whoId}
      className="grid gap-3 outline-none"
    >
      {hasLost && (
        <p role="alert" className="rounded-lg bg-warning-soft px-4 py-3 text-sm">
          <span className="font-medium text-warning">Your answer was not sent.</span>{' '}
          {resolverWords(resolution, { isOfSession })} first.
        </p>
      )}
      <div className="grid gap-3 rounded-lg bg-done-soft p-4">
        <div className="flex items-start gap-2">
          <Icon name="circle-check" className="mt-0.5 text-done" />
          <div className="grid min-w-0 gap-1">
            <p id={whoId} role="status" className="text-sm">
              <span className="font-medium">
                {resolverWords(resolution, { isMine, isOfSession })}
              </span>
              <span className="text-muted">
                {', '}
                <time dateTime={resolution.createdAt} title={formatAbsolute(resolution.createdAt)}>
                  {formatClock(resolution.createdAt)}
                </time>
              </span>
            </p>
            <AnswerText uncertainty={uncertainty} resolution={resolution} job={job} />
            <Replaced resolutions={uncertainty.resolutions} />
          </div>
        </div>
        {decision.withdraw.isError && <ErrorNotice error={decision.withdraw.error} />}
        <Ways {...props} isMine={isMine} />
      </div>
    </section>
  );
}

interface AnswerTextProps {
  uncertainty: Uncertainty;
  resolution: Resolution;
  job: AskingJob;
}

function AnswerText({ uncertainty, resolution, job }: AnswerTextProps) {
  const { mode, value } = resolution;
  const choice = choicesOf(uncertainty).find((each) => each.value === value);
  const effect = effectWords(uncertainty, resolution, job);
  return (
    <>
      {mode !== 'dismissed' && (
        <p className="font-medium whitespace-pre-wrap wrap-anywhere">
          {choice ? choice.label : capText(value, VALUE_CHARS_MAX)}
        </p>
      )}
      {effect !== null && <p className="text-sm text-muted">{effect}</p>}
    </>
  );
}

/** The resolutions that the last one replaced, the latest first. */
function Replaced({ resolutions }: { resolutions: readonly Resolution[] }) {
  const earlier = resolutions.slice(0, -1).reverse();
  if (earlier.length === 0) return null;
  return (
    <ul aria-label="Replaced answers" className="grid gap-0.5 text-sm text-muted">
      {earlier.slice(0, REPLACED_SHOWN).map((resolution) => (
        <li key={resolution.resolutionId} className="wrap-anywhere">
          Replaced: {capText(replacedWords(resolution), REPLACED_CHARS_MAX)},{' '}
          <time dateTime={resolution.createdAt} title={formatAbsolute(resolution.createdAt)}>
            {formatClock(resolution.createdAt)}
          </time>
        </li>
      ))}
    </ul>
  );
}

function Ways(props: DecisionAnswerProps & { isMine: boolean }) {
  const { uncertainty, resolution, job, decision, isMine, isReplacing, onReplace, next } = props;
  const { handOverAt } = uncertainty;
  const secondsLeft = useNow((nowMs) =>
    handOverAt === null ? 0 : Math.max(0, Math.ceil((Date.parse(handOverAt) - nowMs) / 1_000)),
  );
  const mayUndo = isMine && handOverAt !== null;
  return (
    <div className="flex flex-wrap items-center gap-2">
      {mayUndo && (
        <Button
          className="h-9"
          disabled={secondsLeft === 0}
          busy={decision.withdraw.isPending}
          onClick={() => decision.withdraw.mutate(resolution.resolutionId)}
        >
          <Icon name="undo-2" />
          Undo
        </Button>
      )}
      {handOverAt !== null && (
        <p className="text-sm text-muted" aria-hidden="true">
          {handOverWords(resolution, { job, secondsLeft })}
          {!isMine && secondsLeft > 0 && '; until then it can be undone'}
        </p>
      )}
      {handOverAt === null && !isReplacing && !uncertainty.session && (
        <ActionButton look="quiet" disabledReason={props.disabledReason} onClick={onReplace}>
          Replace the answer
        </ActionButton>
      )}
      {handOverAt === null && canBeRule(uncertainty.action, resolution) && (
        <MakeRule uncertainty={uncertainty} disabledReason={props.disabledReason} />
      )}
      {next}
    </div>
  );
}

function MakeRule(props: { uncertainty: Uncertainty; disabledReason: string | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const { action } = props.uncertainty;
  return (
    <>
      <ActionButton
        look="quiet"
        disabledReason={props.disabledReason}
        onClick={() => setOpen(true)}
      >
        Answer this from now on
      </ActionButton>
      {isOpen && action && (
        <Suspense>
          <RuleDialog
            uncertainty={props.uncertainty}
            action={action}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </>
  );
}

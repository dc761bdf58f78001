import type { Uncertainty } from '@signalbox/contract';
import { useEffect, useId, useRef, useState } from 'react';
import { hasCode } from '../../api/hub-error.ts';
import { classNames } from '../../class-names.ts';
import { type Choice, capText, choicesOf } from '../../format/decision-words.ts';
import { type AskingJob, formHint } from '../../format/resolution-words.ts';
import { useKeys } from '../../keys/use-keys.ts';
import { Keys } from '../page/keys.tsx';
import { useAlike } from '../record/use-alike.ts';
import type { useDecision } from '../record/use-decision.ts';
import { ErrorNotice } from '../status/error-notice.tsx';
import { Button } from './button.tsx';
import { inputClasses } from './field.tsx';
import { PromoteButton } from './promote-button.tsx';

const OTHER = 'other';
/** `1` to `9` pick an answer. */
const NUMBERED_MAX = 9;
const ANSWER_CHARS_MAX = 100_000;

interface DecisionFormProps {
  uncertainty: Uncertainty;
  /** The job that asked. */
  job: AskingJob;
  workspaceId: string;
  decision: ReturnType<typeof useDecision>;
  /** Whether the answer replaces another. */
  supersede: boolean;
  /** The other open questions that may have the same answer. */
  alikeIds: readonly string[] | undefined;
  disabledReason: string | undefined;
  /** After an answer. */
  onDone: () => void;
}

/** The possible answers as a group of radio buttons, free text, and the ways to send one. */
export function DecisionForm(props: DecisionFormProps) {
  const { uncertainty, decision, supersede, alikeIds = [], disabledReason, onDone } = props;
  const form = useAnswerForm(uncertainty);
  const alike = useAlike(props.workspaceId);
  const isBusy = decision.answer.isPending || alike.isPending;
  const isDisabled = disabledReason !== undefined;
  const hintId = `${form.id}-hint`;
  const send = (mode: 'answered' | 'dismissed') => {
    if (isBusy || isDisabled) return;
    const value = mode === 'dismissed' ? '' : form.value;
    if (mode === 'answered' && value === '') return form.askForValue();
    decision.answer.mutate({ mode, value, supersede }, { onSuccess: onDone });
  };
  const sendToAll = () => {
    if (isBusy || isDisabled) return;
    if (form.value === '') return form.askForValue();
    alike.mutate({ ids: [uncertainty.uncertaintyId, ...alikeIds], value: form.value });
  };
  useKeys([
    ...form.places.slice(0, NUMBERED_MAX).map((place, at) => ({
      keys: String(at + 1),
      label: place === OTHER ? 'Write an answer' : `Pick answer ${at + 1}`,
      group: 'Question',
      act: () => form.pick(place),
    })),
    { keys: 'mod+enter', label: 'Send the answer', group: 'Question', act: () => send('answered') },
  ]);
  const hasLost = hasCode(decision.answer.error, 'ALREADY_RESOLVED');
  return (
    <form
      className="grid grid-cols-[minmax(0,1fr)] gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        send('answered');
      }}
    >
      <Choices form={form} isDisabled={isDisabled || isBusy} />
      {decision.answer.isError && !hasLost && <ErrorNotice error={decision.answer.error} />}
      {alike.isError && <ErrorNotice error={alike.error} />}
      <div className="flex flex-wrap items-start gap-2 max-sm:grid max-sm:grid-cols-1">
        <Button
          ref={form.submitRef}
          type="submit"
          look="primary"
          busy={isBusy}
          disabled={isDisabled}
          aria-describedby={hintId}
          className="h-9 max-w-full min-w-0 max-sm:w-full"
        >
          <span className="truncate">{form.submitLabel(supersede)}</span>
          <span className="hidden lg:inline-flex" aria-hidden="true">
            <Keys keys="mod+Enter" />
          </span>
        </Button>
        {alikeIds.length > 0 && (
          <Button
            busy={alike.isPending}
            disabled={isDisabled || isBusy}
            aria-describedby={hintId}
            className="h-9 max-sm:w-full"
            onClick={sendToAll}
          >
            Answer all {alikeIds.length + 1} like this
          </Button>
        )}
        <Button
          busy={isBusy}
          disabled={isDisabled}
          aria-describedby={hintId}
          className="h-9 max-sm:w-full"
          onClick={() => send('dismissed')}
        >
          Dismiss
        </Button>
        {uncertainty.status === 'assumed' && (
          <PromoteButton
            workspaceId={props.workspaceId}
            uncertaintyId={uncertainty.uncertaintyId}
            disabledReason={disabledReason}
          />
        )}
      </div>
      <p id={hintId} className="text-xs text-muted">
        {disabledReason ?? formHint(props.job, uncertainty.session !== undefined)}
      </p>
    </form>
  );
}

type AnswerForm = ReturnType<typeof useAnswerForm>;

function useAnswerForm(uncertainty: Uncertainty) {
  const id = useId();
  const choices = choicesOf(uncertainty);
  const [picked, setPicked] = useState(() => firstPick(choices));
  const [text, setText] = useState('');
  const [isMissing, setMissing] = useState(false);
  const submitRef = useRef<HTMLButtonElement>(null);
  // The button of a message leads here. The recommended answer is picked, and a press sends it.
  useEffect(() => {
    if (window.location.hash === '#answer') submitRef.current?.focus();
  }, []);
  const choice = picked === undefined ? undefined : choices[Number(picked)];
  const places = [...choices.map((_, at) => String(at)), OTHER];
  const focus = (place: string) => {
    const selector = place === OTHER ? `${id}-text` : `${id}-${place}`;
    // The text exists only once its answer is picked.
    requestAnimationFrame(() => document.getElementById(selector)?.focus());
  };
  return {
    id,
    submitRef,
    choices,
    otherLabel: otherLabelOf(uncertainty),
    picked,
    places,
    text,
    setText: (next: string) => {
      setText(next);
      setMissing(false);
    },
    isMissing,
    value: picked === OTHER ? text.trim() : (choice?.value ?? ''),
    pick(place: string) {
      setPicked(place);
      setMissing(false);
      focus(place);
    },
    choose(place: string) {
      setPicked(place);
      setMissing(false);
    },
    askForValue() {
      setMissing(true);
      focus(picked ?? places[0] ?? OTHER);
    },
    submitLabel(supersede: boolean) {
      const word = supersede ? 'Replace with' : 'Answer';
      if (choice !== undefined) return `${word} “${capText(choice.label, 60)}”`;
      return supersede ? 'Replace the answer' : 'Answer';
    },
  };
}

/** A tool that asks whether it may act takes words of one's own as a refusal, and reads them. */
function otherLabelOf({ session, action }: Uncertainty): string {
  const isPermission = session !== undefined || action !== undefined;
  return isPermission ? 'Refuse, and say why' : 'Another answer';
}

/** The recommended answer; the text field where nothing else is offered. */
function firstPick(choices: readonly Choice[]): string | undefined {
  if (choices.length === 0) return OTHER;
  const recommended = choices.findIndex(({ isRecommended }) => isRecommended);
  return recommended === -1 ? undefined : String(recommended);
}

function Choices({ form, isDisabled }: { form: AnswerForm; isDisabled: boolean }) {
  const { id, choices, picked, isMissing } = form;
  const error = isMissing && (
    <p id={`${id}-missing`} role="alert" className="text-xs text-danger">
      {picked === OTHER ? 'Write an answer first.' : 'Pick an answer first.'}
    </p>
  );
  if (choices.length === 0) {
    return (
      <fieldset disabled={isDisabled} className="grid gap-1.5">
        <FreeText form={form} />
        {error}
      </fieldset>
    );
  }
  return (
    <fieldset disabled={isDisabled} className="grid min-w-0 gap-2">
      <legend className="mb-2 text-sm font-medium">Your answer</legend>
      {choices.map((choice, at) => (
        <ChoiceCard
          // Two options may be alike; their place is what tells them apart.
          // biome-ignore lint/suspicious/noArrayIndexKey: options never move.
          key={at}
          form={form}
          place={String(at)}
          number={at + 1}
          choice={choice}
        />
      ))}
      <ChoiceCard form={form} place={OTHER} number={choices.length + 1}>
        {picked === OTHER && <FreeText form={form} isInCard />}
      </ChoiceCard>
      {error}
    </fieldset>
  );
}

interface ChoiceCardProps {
  form: AnswerForm;
  place: string;
  number: number;
  choice?: Choice;
  children?: React.ReactNode;
}

function ChoiceCard({ form, place, number, choice, children }: ChoiceCardProps) {
  const { id, picked } = form;
  const noteId = `${id}-${place}-note`;
  return (
    <div
      className={classNames(
        'rounded-lg border transition-colors has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent',
        picked === place
          ? 'border-accent bg-accent-soft'
          : 'border-control/60 not-has-disabled:hover:bg-hover',
      )}
    >
      <label className="flex min-h-10 cursor-pointer items-start gap-3 px-3 py-2.5 has-disabled:cursor-not-allowed has-disabled:opacity-70 pointer-coarse:min-h-11">
        <input
          type="radio"
          id={`${id}-${place}`}
          name={id}
          checked={picked === place}
          onChange={() => form.choose(place)}
          aria-describedby={choice ? noteId : undefined}
          className="mt-0.5 size-4 shrink-0 accent-accent-fill outline-none"
        />
        <span className="flex min-w-0 grow flex-wrap items-center gap-x-2 gap-y-1 font-medium wrap-anywhere">
          {choice ? choice.label : form.otherLabel}
          {choice?.isRecommended && <Mark tone="accent">Recommended</Mark>}
          {choice?.isAssumed && <Mark tone="plain">Assumed by the agent</Mark>}
        </span>
        {number <= NUMBERED_MAX && (
          <span aria-hidden="true" className="hidden lg:inline">
            <Keys keys={String(number)} />
          </span>
        )}
      </label>
      {choice && (choice.description !== '' || choice.sent !== null) && (
        <div id={noteId} className="-mt-1 grid gap-1 pr-3 pb-2.5 pl-10 text-sm text-muted">
          {choice.description !== '' && (
            <p className="max-w-prose whitespace-pre-wrap wrap-anywhere">{choice.description}</p>
          )}
          {choice.sent !== null && (
            <p className="text-xs">
              Sends <code className="font-mono wrap-anywhere">{choice.sent}</code>
            </p>
          )}
        </div>
      )}
      {children && <div className="px-3 pb-3">{children}</div>}
    </div>
  );
}

function Mark({ tone, children }: { tone: 'accent' | 'plain'; children: string }) {
  return (
    <span
      className={classNames(
        'rounded-full px-2 text-xs leading-5',
        tone === 'accent' ? 'bg-accent-fill text-white' : 'border text-muted',
      )}
    >
      {children}
    </span>
  );
}

function FreeText({ form, isInCard = false }: { form: AnswerForm; isInCard?: boolean }) {
  const { id, isMissing } = form;
  return (
    <>
      <label htmlFor={`${id}-text`} className={isInCard ? 'sr-only' : 'text-sm font-medium'}>
        Your answer
      </label>
      <textarea
        id={`${id}-text`}
        rows={3}
        value={form.text}
        maxLength={ANSWER_CHARS_MAX}
        aria-invalid={isMissing || undefined}
        aria-describedby={isMissing ? `${id}-missing` : undefined}
        onChange={(event) => form.setText(event.target.value)}
        className={classNames(inputClasses, 'h-auto min-h-20 resize-y py-2 pointer-coarse:h-auto')}
      />
    </>
  );
}

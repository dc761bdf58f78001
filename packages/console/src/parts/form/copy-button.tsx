import { useEffect, useState } from 'react';
import { classNames } from '../../class-names.ts';
import { Icon } from '../page/icon.tsx';
import { keepReachable } from '../page/scroll-box.tsx';

const CONFIRM_MS = 1_500;
const signs = { idle: 'copy', copied: 'check', failed: 'triangle-alert' } as const;

/** Copies `text`. `what` names it (`job ID`) in the button's label. */
export function CopyButton({
  text,
  what,
  className,
}: {
  text: string;
  what: string;
  className?: string;
}) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => setState('idle'), CONFIRM_MS);
    return () => clearTimeout(timer);
  }, [state]);

  const copy = () =>
    // Outside a secure context (plain http, not loopback) the browser has no clipboard.
    (navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'))).then(
      () => setState('copied'),
      () => setState('failed'),
    );
  return (
    <button
      type="button"
      aria-label={`Copy ${what}`}
      title={state === 'failed' ? 'The browser did not allow copying' : `Copy ${what}`}
      onClick={copy}
      className={classNames(
        'inline-grid size-7 shrink-0 place-items-center rounded-md text-faint hover:bg-hover hover:text-ink',
        'pointer-coarse:size-11',
        state === 'copied' && 'text-done hover:text-done',
        state === 'failed' && 'text-danger hover:text-danger',
        className,
      )}
    >
      <Icon name={signs[state]} />
      <span role="status" className="sr-only">
        {state === 'copied' && 'Copied'}
        {state === 'failed' && 'Not copied'}
      </span>
    </button>
  );
}

/** A complete ID in a monospaced font, with a copy button. */
export function CopyId({ id, what }: { id: string; what: string }) {
  return (
    <span className="inline-flex max-w-full min-w-0 items-center gap-0.5">
      <code className="truncate font-mono text-xs text-muted" title={id}>
        {id}
      </code>
      <CopyButton text={id} what={what} />
    </span>
  );
}

/** A command to run, with a copy button. */
export function Command({ text }: { text: string }) {
  return (
    <div className="flex items-center gap-2 rounded-md border bg-well py-1 pr-1 pl-3">
      <code
        ref={keepReachable}
        className="min-w-0 grow overflow-x-auto py-1 font-mono text-xs whitespace-pre"
      >
        {text}
      </code>
      <CopyButton text={text} what="command" />
    </div>
  );
}

import { useState } from 'react';
import { classNames } from '../class-names.ts';
import { FieldFrame, inputClasses } from '../parts/form/field.tsx';
import { GuideLink } from '../parts/page/guide-link.tsx';
import { Markdown } from '../parts/text/markdown.tsx';

const views = [
  { name: 'write', word: 'Write' },
  { name: 'preview', word: 'Preview' },
] as const;
type ViewName = (typeof views)[number]['name'];

interface PromptFieldProps {
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}

/** The prompt, with a preview of its Markdown. */
export function PromptField({ value, error, onChange }: PromptFieldProps) {
  const [view, setView] = useState<ViewName>('write');
  return (
    <div className="grid gap-1.5">
      <FieldFrame
        label="Prompt"
        hint="Markdown. The first line becomes the title. Say what has to be true at the end."
        error={error}
      >
        {(ids) => (
          <div className="grid gap-1.5">
            <div className="flex flex-wrap items-center justify-between gap-x-4">
              <ViewSwitch view={view} onView={setView} />
              <GuideLink to="/docs/guides/good-jobs" words="Write a good job" />
            </div>
            <textarea
              {...ids}
              name="prompt"
              rows={9}
              required
              hidden={view !== 'write'}
              value={value}
              onChange={(event) => onChange(event.target.value)}
              className={classNames(
                inputClasses,
                'h-auto min-h-52 resize-y py-2 leading-[1.375rem]',
              )}
            />
            {view === 'preview' && (
              <section
                aria-label="Preview of the prompt"
                className="min-h-52 rounded-md border bg-surface px-3 py-2"
              >
                {value.trim() === '' ? (
                  <p className="text-sm text-muted">Nothing to preview yet.</p>
                ) : (
                  <Markdown text={value} />
                )}
              </section>
            )}
          </div>
        )}
      </FieldFrame>
    </div>
  );
}

interface ViewSwitchProps {
  view: ViewName;
  onView: (view: ViewName) => void;
}

function ViewSwitch({ view, onView }: ViewSwitchProps) {
  return (
    <fieldset className="flex w-fit gap-0.5 rounded-md bg-well p-0.5">
      <legend className="sr-only">Show the prompt as</legend>
      {views.map(({ name, word }) => (
        <button
          key={name}
          type="button"
          aria-pressed={view === name}
          onClick={() => onView(name)}
          className={classNames(
            'h-7 rounded px-2.5 text-xs font-medium pointer-coarse:h-11',
            view === name ? 'bg-surface text-ink shadow-sm' : 'text-muted hover:text-ink',
          )}
        >
          {word}
        </button>
      ))}
    </fieldset>
  );
}

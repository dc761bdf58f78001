import { enqueuePath } from 'virtual:contract-data';
import { curlOf, enqueueCommandOf } from '../format/job-commands.ts';
import { CopyButton } from '../parts/form/copy-button.tsx';
import { Fold } from '../parts/page/fold.tsx';
import { ScrollBox } from '../parts/page/scroll-box.tsx';
import type { EnqueueRequest } from './job-draft.ts';

interface SameCommandsProps {
  slug: string;
  request: EnqueueRequest;
  /** The names of the attached files, which the command line reads from its folder. */
  fileNames: readonly string[];
}

/** The commands that make the same job from a terminal. */
export function SameCommands({ slug, request, fileNames }: SameCommandsProps) {
  const hubUrl = window.location.origin;
  const line = enqueueCommandOf(hubUrl, slug, request, fileNames);
  const commands = [
    ...(line === null ? [] : [{ what: 'command line', text: line }]),
    { what: 'curl command', text: curlOf(hubUrl, enqueuePath, request) },
  ];
  return (
    <Fold title="The same from a terminal">
      <div className="grid gap-3">
        {commands.map(({ what, text }) => (
          <section key={what} aria-label={`As a ${what}`} className="grid gap-1">
            <div className="flex items-center justify-between gap-2">
              <h2 className="text-xs font-semibold text-muted">As a {what}</h2>
              <CopyButton text={text} what={what} />
            </div>
            <ScrollBox className="max-h-56 rounded-md bg-well px-3 py-2 font-mono text-xs">
              {text}
            </ScrollBox>
          </section>
        ))}
        <p className="text-xs text-muted">
          The curl command needs a token of this workspace in SIGNALBOX_TOKEN.
        </p>
      </div>
    </Fold>
  );
}

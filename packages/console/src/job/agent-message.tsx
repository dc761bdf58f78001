import type { Job, OutcomeReason } from '@signalbox/contract';
import { Icon, type IconName } from '../parts/page/icon.tsx';
import { LinkedText } from '../parts/text/linked-text.tsx';
import { Markdown } from '../parts/text/markdown.tsx';

const looks: Readonly<
  Record<
    'done' | 'unchanged' | 'blocked',
    { icon: IconName; edge: string; tone: string; title: string }
  >
> = {
  done: {
    icon: 'circle-check',
    edge: 'border-l-done',
    tone: 'text-done',
    title: 'The agent reports the job as done',
  },
  unchanged: {
    icon: 'triangle-alert',
    edge: 'border-l-warning',
    tone: 'text-warning',
    title: 'The agent reports the job as done, without changes',
  },
  blocked: {
    icon: 'circle-pause',
    edge: 'border-l-attention',
    tone: 'text-attention',
    title: 'The agent is blocked',
  },
};

/** The agent's final message of an attempt that did not fail, as Markdown. */
export function AgentMessage({ job }: { job: Job }) {
  const { outcome, message } = job;
  const reason = reasonText(job.outcomeReason);
  if (outcome === null || outcome === 'failed' || (message === null && reason === '')) return null;
  const look = job.changed === false ? looks.unchanged : looks[outcome];
  return (
    <section
      aria-labelledby="message"
      className={`grid min-w-0 gap-2 rounded-lg border border-l-3 bg-surface p-4 sm:p-5 ${look.edge}`}
    >
      <h2 id="message" className={`flex items-center gap-2 text-sm font-semibold ${look.tone}`}>
        <Icon name={look.icon} />
        {look.title}
      </h2>
      {message !== null && (
        <div className="max-w-[72ch] min-w-0">
          <Markdown text={message} />
        </div>
      )}
      {reason !== '' && reason !== message && (
        <p className="text-sm wrap-anywhere text-muted">
          <LinkedText text={reason} />
        </p>
      )}
    </section>
  );
}

function reasonText(reason: OutcomeReason | null): string {
  if (reason === null) return '';
  if (typeof reason === 'string') return reason;
  const { category, code, summary } = reason;
  return [[category, code].filter(Boolean).join(' · '), summary].filter(Boolean).join(': ');
}

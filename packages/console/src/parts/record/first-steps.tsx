import { Link } from '@tanstack/react-router';
import { commandName } from '../../format/command-name.ts';
import { buttonClasses } from '../form/button.tsx';
import { Command } from '../form/copy-button.tsx';

/** The empty job list: what leads to the first job. */
export function FirstSteps({ slug, hasClone }: { slug: string; hasClone: boolean }) {
  return hasClone ? <FirstJob slug={slug} /> : <FirstCommands slug={slug} />;
}

function FirstJob({ slug }: { slug: string }) {
  return (
    <section className="grid justify-items-start gap-4 rounded-lg border bg-surface p-5 sm:p-8">
      <div>
        <h2 className="text-lg font-semibold">No jobs yet</h2>
        <p className="mt-1 text-sm text-muted">
          Describe a task as you would to a colleague. An agent does it on a branch of its own; what
          you have checked out stays as it is.
        </p>
      </div>
      <Link to="/w/$slug/jobs/new" params={{ slug }} className={buttonClasses('primary')}>
        Describe the first job
      </Link>
    </section>
  );
}

/** Without a repository: the commands that lead to the first job, in order. */
function FirstCommands({ slug }: { slug: string }) {
  const hub = window.location.origin;
  const signalbox = commandName();
  const isHubMachine = signalbox.startsWith('npx');
  const steps = [
    {
      title: 'Log this machine in',
      text: 'Opens a page of this console that asks for the code shown in the terminal.',
      command: `${signalbox} login --url ${hub} --workspace ${slug}`,
    },
    {
      title: 'Link a repository',
      text: 'Its clone on this machine. Only a hash of its URL and a label leave the machine.',
      command: `${signalbox} repo link ~/src/api`,
    },
    {
      title: 'Enqueue a job',
      text: 'Describe the task as you would to a colleague.',
      command: `${signalbox} enqueue "Add a health check to the API" --repo ~/src/api`,
    },
    {
      title: 'Start an agent',
      text: 'It runs Claude Code or Codex on its own branch; add --tool for another program.',
      command: `${signalbox} agent start`,
    },
  ];
  return (
    <section className="rounded-lg border bg-surface p-5 sm:p-8">
      <h2 className="text-lg font-semibold">No jobs yet</h2>
      <p className="mt-1 text-sm text-muted">
        {isHubMachine ? (
          <>
            Run these four commands in the Signalbox folder to get to your first job. If the command
            signalbox is installed on your machine, leave out npx and run them in any folder.
          </>
        ) : (
          <>
            Four commands lead to your first job. They need the command signalbox on the machine
            that has the repository:{' '}
            <a className="text-accent underline" href="/docs/guides/several-machines">
              how to install it
            </a>
            .
          </>
        )}
      </p>
      <ol className="mt-6 grid max-w-2xl grid-cols-[minmax(0,1fr)] gap-6">
        {steps.map((step, index) => (
          <li key={step.title} className="grid grid-cols-[1.75rem_minmax(0,1fr)] gap-x-3">
            <span
              aria-hidden="true"
              className="grid size-7 place-items-center rounded-full bg-accent-soft text-xs font-semibold text-accent"
            >
              {index + 1}
            </span>
            <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-2">
              <div>
                <h3 className="font-medium">{step.title}</h3>
                <p className="text-sm text-muted">{step.text}</p>
              </div>
              <Command text={step.command} />
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

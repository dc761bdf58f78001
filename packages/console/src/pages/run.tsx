import type { AskOrder, RunJob } from '@signalbox/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import {
  type RunOverview,
  runDecisionsQuery,
  runGraphQuery,
  runQuery,
} from '../api/fleet-queries.ts';
import { callHub } from '../api/hub-call.ts';
import { hasCode } from '../api/hub-error.ts';
import { commandName } from '../format/command-name.ts';
import { answerLine } from '../format/resolution-words.ts';
import { costNote, formatAmount, formatCost, openWord, titleOfRun } from '../format/run-words.ts';
import { plainText } from '../format/text.ts';
import { Command, CopyId } from '../parts/form/copy-button.tsx';
import { BackLink, innerLinkClasses } from '../parts/page/page-parts.tsx';
import { usePageTitle } from '../parts/page/page-title.ts';
import { UrlTabs } from '../parts/page/tabs.tsx';
import { AskOrderPanel } from '../parts/record/ask-order-panel.tsx';
import { Facts, Panel } from '../parts/record/facts.tsx';
import { useRepositoryLabels } from '../parts/record/repository-labels.ts';
import { RunActions } from '../parts/record/run-actions.tsx';
import { RunGraphView } from '../parts/record/run-graph.tsx';
import { EndState } from '../parts/status/end-state.tsx';
import { ReadFailure } from '../parts/status/read-failure.tsx';
import { RunStatus } from '../parts/status/run-status.tsx';
import { SkeletonRows } from '../parts/status/skeleton.tsx';
import { StatusBadge } from '../parts/status/status-badge.tsx';
import { RelativeTime } from '../parts/text/relative-time.tsx';

const workspace = getRouteApi('/w/$slug');
const route = getRouteApi('/w/$slug/runs/$runId');

/** One run: its goal, milestones, jobs, decisions, packs and cost. */
export function RunPage() {
  const { membership } = workspace.useRouteContext();
  const { slug, runId } = route.useParams();
  const read = useQuery(runQuery(membership.workspaceId, runId));
  usePageTitle(read.data ? titleOfRun(read.data.run) : runId);
  const isUnknown = hasCode(read.error, 'RUN_NOT_FOUND');
  return (
    <div className="mx-auto grid max-w-6xl grid-cols-[minmax(0,1fr)] gap-4">
      <BackLink to="/w/$slug/runs" slug={slug}>
        All runs
      </BackLink>
      {read.isPending && <SkeletonRows what="the run" rows={6} />}
      {isUnknown && (
        <EndState icon="triangle-alert" tone="neutral" title="No such run">
          <p>It may belong to another workspace.</p>
        </EndState>
      )}
      {!isUnknown && <ReadFailure read={read} />}
      {read.data && <RunView overview={read.data} />}
    </div>
  );
}

function RunView({ overview }: { overview: RunOverview }) {
  const { run } = overview;
  return (
    <>
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="min-w-0 text-xl font-semibold tracking-tight wrap-anywhere">
            {titleOfRun(run)}
          </h1>
          <span role="status" aria-label="Status" className="inline-flex">
            <RunStatus status={run.status} />
          </span>
        </div>
        <RunActions overview={overview} />
      </div>
      {run.goal && (
        <p className="max-w-prose text-base whitespace-pre-wrap wrap-anywhere">
          {plainText(run.goal)}
        </p>
      )}
      <Milestones overview={overview} />
      <JobsPanel overview={overview} />
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="grid min-w-0 gap-4">
          <Decisions runId={run.runId} />
          <Packs overview={overview} />
        </div>
        <RunFacts overview={overview} />
      </div>
    </>
  );
}

/** The milestones that the run has entered, in their order. */
function Milestones({ overview: { run, milestones } }: { overview: RunOverview }) {
  const entered = milestones.filter(
    ({ milestone }, at) => milestone !== null && milestone !== milestones[at - 1]?.milestone,
  );
  const shown =
    entered.length > 0 || run.currentMilestone === null
      ? entered
      : [{ milestone: run.currentMilestone, status: run.status, at: run.updatedAt }];
  if (shown.length === 0) return null;
  return (
    <ol aria-label="Milestones" className="flex flex-wrap gap-x-1 gap-y-2 text-sm">
      {shown.map(({ milestone, at }, place) => {
        const isCurrent = place === shown.length - 1;
        return (
          <li
            key={at + (milestone ?? '')}
            aria-current={isCurrent ? 'step' : undefined}
            className="flex items-center gap-1"
          >
            <span
              className={
                isCurrent
                  ? 'rounded-md bg-accent-soft px-2 py-1 font-medium text-accent'
                  : 'rounded-md px-2 py-1 text-muted'
              }
            >
              {openWord(plainText(milestone ?? ''))}{' '}
              <RelativeTime at={at} className="text-xs font-normal" />
            </span>
            {!isCurrent && (
              <span aria-hidden="true" className="text-faint">
                →
              </span>
            )}
          </li>
        );
      })}
    </ol>
  );
}

function JobsPanel({ overview: { run } }: { overview: RunOverview }) {
  const { membership } = workspace.useRouteContext();
  const { workspaceId, slug } = membership;
  const { tab = 'graph' } = route.useSearch();
  const read = useQuery(runGraphQuery(workspaceId, run.runId));
  const jobs = read.data?.jobs ?? [];
  return (
    <Panel title="Jobs">
      {read.isPending && <SkeletonRows what="the jobs" rows={3} />}
      <ReadFailure read={read} />
      {read.data && jobs.length === 0 && (
        <>
          <p className="text-sm text-muted">No job works towards it yet. In its clone, run:</p>
          <Command text={`${commandName()} enqueue "Describe the task" --run ${run.runId}`} />
        </>
      )}
      {jobs.length > 0 && (
        <UrlTabs
          label="Jobs as"
          tabs={[
            { name: 'graph', word: 'Graph' },
            { name: 'list', word: 'List', note: jobs.length },
          ]}
          current={tab}
        >
          {tab === 'graph' ? (
            <RunGraphView jobs={jobs} slug={slug} />
          ) : (
            <JobItems jobs={jobs} slug={slug} />
          )}
        </UrlTabs>
      )}
      {read.data?.isCut && (
        <p className="text-xs text-muted">Only the newest {jobs.length} jobs are shown.</p>
      )}
    </Panel>
  );
}

function JobItems({ jobs, slug }: { jobs: readonly RunJob[]; slug: string }) {
  const titles = new Map(jobs.map((job) => [job.jobId, plainText(job.title) || job.jobId]));
  return (
    <ol aria-label="Jobs of the run" className="grid">
      {jobs.map((job) => {
        const before = [...new Set([job.parentJobId, ...job.dependsOn])];
        const names = before.flatMap((jobId) => (jobId && titles.get(jobId)) || []);
        return (
          <li
            key={job.jobId}
            className="flex min-h-row min-w-0 flex-wrap items-center gap-x-3 border-b text-sm last:border-b-0"
          >
            <span className="w-24 shrink-0">
              <StatusBadge status={job.status} changed={job.changed} />
            </span>
            <span className="min-w-0 grow basis-40">
              <Link
                to="/w/$slug/jobs/$jobId"
                params={{ slug, jobId: job.jobId }}
                className={innerLinkClasses}
              >
                <span className="truncate">{titles.get(job.jobId)}</span>
              </Link>
            </span>
            {names.length > 0 && (
              <span className="max-w-full truncate text-xs text-muted sm:max-w-64">
                after {names.join(', ')}
              </span>
            )}
            <RelativeTime at={job.createdAt} className="shrink-0 text-xs text-muted tabular-nums" />
          </li>
        );
      })}
    </ol>
  );
}

/** The questions of the run and their answers. */
function Decisions({ runId }: { runId: string }) {
  const { membership } = workspace.useRouteContext();
  const read = useQuery(runDecisionsQuery(membership.workspaceId, runId));
  const items = read.data?.uncertainties ?? [];
  return (
    <Panel title="Decisions">
      <ReadFailure read={read} />
      {read.data && items.length === 0 && (
        <p className="text-sm text-muted">No agent has asked anything.</p>
      )}
      <ul className="grid gap-2 empty:hidden">
        {items.map((item) => (
          <li key={item.uncertaintyId} className="grid gap-0.5 text-sm">
            <Link
              to="/w/$slug/inbox/$uncertaintyId"
              params={{ slug: membership.slug, uncertaintyId: item.uncertaintyId }}
              className="py-0.5 font-medium text-accent underline underline-offset-2 wrap-anywhere pointer-coarse:py-2"
            >
              {plainText(item.title) || item.uncertaintyId}
            </Link>
            <span className="text-muted wrap-anywhere">
              {item.status === 'open' && <span className="text-attention">Waits for a person</span>}
              {item.status === 'assumed' && 'Assumed by the agent'}
              {item.answer && answerLine(item.answer)} · <RelativeTime at={item.createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Packs({ overview: { packs } }: { overview: RunOverview }) {
  if (packs.length === 0) return null;
  return (
    <Panel title="Context packs">
      <ul className="grid gap-1 text-sm">
        {packs.map((pack) => (
          <li key={pack.packId} className="flex flex-wrap justify-between gap-x-3">
            <span>
              Version {pack.version}: {pack.items === 1 ? '1 item' : `${pack.items} items`}, about{' '}
              {formatAmount(pack.tokenEstimate)} tokens
            </span>
            <RelativeTime at={pack.createdAt} className="text-xs text-muted" />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function RunOrder({ overview: { run } }: { overview: RunOverview }) {
  const { workspaceId, runId } = run;
  const client = useQueryClient();
  const save = async (askOrder: AskOrder | null) => {
    // The call names the status, which a job may have changed meanwhile.
    const { status } = (await callHub('runs', 'get', { workspaceId, runId })).run;
    await callHub('runs', 'upsertV2', { workspaceId, runId, status, askOrder });
    await client.invalidateQueries({ queryKey: ['runs', workspaceId] });
  };
  return (
    <AskOrderPanel askOrder={run.askOrder} byDefault="As its repository says." onSave={save} />
  );
}

function RunFacts({ overview }: { overview: RunOverview }) {
  const { run, usage } = overview;
  const { membership } = workspace.useRouteContext();
  const label = useRepositoryLabels(membership.workspaceId, [run.repoId]).get(run.repoId);
  return (
    <div className="grid min-w-0 gap-4">
      <Panel title="Cost">
        {usage.jobsWithCost > 0 && (
          <p className="text-xl font-semibold tabular-nums">{formatCost(usage.costUsd)}</p>
        )}
        {usage.inputTokens + usage.outputTokens > 0 && (
          <p className="text-sm">
            {formatAmount(usage.inputTokens)} tokens in, {formatAmount(usage.outputTokens)} out
          </p>
        )}
        <p className="text-xs text-muted">{costNote(usage)}</p>
      </Panel>
      <RunOrder overview={overview} />
      <Panel title="Details">
        <Facts
          rows={[
            [
              'Repository',
              <Link
                key="repo"
                to="/w/$slug/repositories/$repoId"
                params={{ slug: membership.slug, repoId: run.repoId }}
                className={innerLinkClasses}
              >
                <span className="truncate">{plainText(label || run.repoId)}</span>
              </Link>,
            ],
            ['Reference', plainText(run.runRef)],
            ['State file', run.runStatePath && plainText(run.runStatePath)],
            ['Started', <RelativeTime key="started" at={run.createdAt} />],
            ['Changed', <RelativeTime key="changed" at={run.updatedAt} />],
            ['ID', <CopyId key="id" id={run.runId} what="run ID" />],
          ]}
        />
      </Panel>
    </div>
  );
}

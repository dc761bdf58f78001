// The pages of the console of which pictures are taken.
import type { Page } from 'playwright-core';
import type { Owner } from '../demo/owner.ts';
import { workspaceSlug } from './seeded-console.ts';

export interface ConsolePage {
  /** Names the files of its pictures. */
  name: string;
  path: string;
  /** The first steps of a person. */
  act?: (page: Page) => Promise<void>;
}

const home = `/w/${workspaceSlug}`;
const lists: readonly ConsolePage[] = [
  { name: 'inbox', path: `${home}/inbox` },
  { name: 'jobs', path: `${home}/jobs` },
  { name: 'new-job', path: `${home}/jobs/new` },
  { name: 'runs', path: `${home}/runs` },
  { name: 'agents', path: `${home}/agents` },
  { name: 'repositories', path: `${home}/repositories` },
  ...['workspace', 'members', 'tokens', 'machines', 'account', 'audit'].map((name) => ({
    name: `settings-${name}`,
    path: `${home}/settings/${name}`,
  })),
];

/** The pages that need no record: those of an empty workspace. */
export function pagesWithoutRecords(): readonly ConsolePage[] {
  return [...lists, { name: 'inbox-answered', path: `${home}/inbox?show=answered` }];
}

/** Every page of a seeded workspace. */
export async function pagesOfRecords(
  owner: Owner,
  richJobId: string,
): Promise<readonly ConsolePage[]> {
  const { console, workspaceId } = owner;
  const { jobs } = await console.jobs.list({ workspaceId, limit: 200 });
  const jobOf = (isFit: (job: (typeof jobs)[number]) => boolean) => {
    const job = jobs.find(isFit);
    if (job === undefined) throw new Error('The seeded workspace has no such job.');
    return `${home}/jobs/${job.jobId}`;
  };
  const { uncertainties } = await console.uncertainties.list({ workspaceId, status: 'open' });
  const { runs } = await console.runs.list({ workspaceId });
  const { agents } = await console.agents.list({ workspaceId });
  const { repos } = await console.repositories.list({ workspaceId });
  const rich = `${home}/jobs/${richJobId}`;
  const pathOf = (folder: string, id: string | undefined) => `${home}/${folder}/${id ?? 'none'}`;
  return [
    ...lists,
    { name: 'inbox-answered', path: `${home}/inbox?show=answered` },
    { name: 'inbox-question', path: pathOf('inbox', uncertainties[0]?.uncertaintyId) },
    { name: 'jobs-done', path: `${home}/jobs?status=done` },
    { name: 'jobs-no-match', path: `${home}/jobs?kind=git_repair` },
    { name: 'job-pending', path: jobOf(({ status }) => status === 'pending') },
    { name: 'job-running', path: jobOf(({ status }) => status === 'running') },
    { name: 'job-blocked', path: jobOf(({ status }) => status === 'blocked') },
    { name: 'job-failed', path: jobOf(({ status }) => status === 'failed') },
    { name: 'job-canceled', path: jobOf(({ status }) => status === 'canceled') },
    { name: 'job-done', path: rich },
    {
      name: 'job-done-not-shared',
      path: `${jobOf(({ status, jobId }) => status === 'done' && jobId !== richJobId)}?tab=changes`,
    },
    ...['log', 'changes', 'timeline', 'raw'].map((tab) => ({
      name: `job-${tab}`,
      path: `${rich}?tab=${tab}`,
    })),
    { name: 'run', path: pathOf('runs', runs[0]?.runId) },
    { name: 'run-list', path: `${pathOf('runs', runs[0]?.runId)}?tab=list` },
    { name: 'agent', path: pathOf('agents', agents[0]?.agentId) },
    { name: 'repository', path: pathOf('repositories', repos[0]?.repoId) },
  ];
}

/** Menus and dialogs above a page; for people who may act. */
export function overlays(runningJobPath: string): readonly ConsolePage[] {
  const press = (keys: string) => async (page: Page) => {
    await page.keyboard.press(keys);
    await page.getByRole('dialog').waitFor();
  };
  const click = (name: string | RegExp) => async (page: Page) => {
    await page.getByRole('button', { name }).first().click();
    await page.locator('[role=dialog], [role=alertdialog], [role=menu]').first().waitFor();
  };
  return [
    { name: 'palette', path: `${home}/jobs`, act: press('Control+k') },
    { name: 'keys', path: `${home}/jobs`, act: press('?') },
    { name: 'account-menu', path: `${home}/jobs`, act: click(/^Account of/) },
    { name: 'workspace-menu', path: `${home}/jobs`, act: click(/Switch workspace/) },
    { name: 'cancel-dialog', path: runningJobPath, act: click('Cancel job') },
    {
      name: 'jobs-selected',
      path: `${home}/jobs`,
      async act(page) {
        for (const box of (await page.getByRole('checkbox').all()).slice(0, 3)) {
          await box.check({ force: true });
        }
      },
    },
  ];
}

/** The pages of people who have not signed in. */
export function guestPages(firstOwnerUrl: string): readonly ConsolePage[] {
  return [
    { name: 'sign-in', path: '/sign-in' },
    { name: 'first-owner-used', path: new URL(firstOwnerUrl).href },
    { name: 'invitation-unknown', path: '/invitation#token=none' },
    { name: 'reset-password-unknown', path: '/reset-password#token=none' },
    { name: 'page-not-found', path: '/nowhere' },
  ];
}

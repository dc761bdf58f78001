import { endpoints, type RequestInput } from '@signalbox/contract';
import type { KnownBlock } from '@slack/web-api';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import { createRequestValidator } from '../http/validation.ts';
import { enqueueJob } from '../jobs/enqueue.ts';
import { quote } from '../notifications/content.ts';
import { actForMessage, readMessagePrincipal } from '../notifications/message-principal.ts';
import { escapeSlack, openButton, plain } from '../notifications/slack-message.ts';
import { listChannelsOfSlackUser } from '../notifications/store.ts';
import { listRepositories, type RepositoryRow } from '../repositories/store.ts';
import { listInbox } from '../uncertainties/inbox.ts';
import { readWorkspace, type WorkspaceRow } from '../workspaces/store.ts';
import { connectSlack, slackUserOf } from './connect.ts';
import type { SlackDeps } from './deps.ts';
import { readCommand, type SlackCommand } from './payloads.ts';
import { NOT_CONNECTED } from './press.ts';

/** Shown to the one who sent a command, alone. */
interface Answer {
  response_type: 'ephemeral';
  text: string;
  blocks?: KnownBlock[];
}

/** A workspace in which the one who sent a command is a member. */
interface Place {
  workspace: WorkspaceRow;
  principal: Principal;
}

const QUESTIONS_MAX = 10;
/** Of a message of Slack. */
const BLOCKS_MAX = 50;
const TITLE_CHARS_MAX = 240;
const REPOSITORIES_READ_MAX = 1_000;
const REPOSITORIES_NAMED_MAX = 20;
const HELP =
  'Send /signalbox to see what waits for you, /signalbox REPOSITORY what to do to enqueue a job, ' +
  'or /signalbox connect CODE to connect another workspace.';

const inboxRequest = createRequestValidator(endpoints.uncertainties.inbox.request);
const enqueueRequest = createRequestValidator(endpoints.jobs.enqueue.request);

/** Does what `/signalbox …` says. @throws HubError INVALID_REQUEST */
export async function handleCommand(deps: SlackDeps, body: unknown): Promise<Answer> {
  const command = readCommand(body);
  const words = unescapeSlack(command.text ?? '').trim();
  const code = /^connect\s+(.*)$/is.exec(words)?.[1];
  if (code !== undefined) return answer(await connectSlack(deps, accountOf(command), code));
  const places = await listPlaces(deps, command);
  if (places.length === 0) return answer(NOT_CONNECTED);
  try {
    return await act(deps, places, words, command);
  } catch (error) {
    if (error instanceof HubError) return answer(error.message);
    throw error;
  }
}

async function act(
  deps: SlackDeps,
  places: readonly Place[],
  words: string,
  command: SlackCommand,
): Promise<Answer> {
  const [first = ''] = words.split(/\s/, 1);
  const named = places.filter(({ workspace }) => workspace.slug === first.toLowerCase());
  const chosen = named.length === 0 ? places : named;
  const rest = named.length === 0 ? words : words.slice(first.length).trim();
  if (rest === '' || rest === 'waits') return await listWaits(deps, chosen);
  if (rest === 'help') return answer(HELP);
  const [place] = chosen;
  if (place === undefined || chosen.length > 1) {
    const slugs = chosen.map(({ workspace }) => workspace.slug).join(', ');
    return answer(
      `Begin with the workspace: ${slugs}. As in /signalbox ${place?.workspace.slug} ${rest}`,
    );
  }
  return await enqueue(deps, place, rest.replace(/^enqueue\s+/i, ''), command);
}

function accountOf({ team_id, user_id, team_domain, user_name }: SlackCommand) {
  return {
    teamId: team_id,
    userId: user_id,
    teamName: team_domain || team_id,
    userName: user_name || user_id,
  };
}

async function listPlaces({ database }: SlackDeps, command: SlackCommand): Promise<Place[]> {
  const { reader } = database;
  const slackUser = slackUserOf(accountOf(command));
  const channels = await listChannelsOfSlackUser(reader, slackUser);
  const places = await Promise.all(
    channels.map(async ({ workspace_id, person_id }) => ({
      workspace: await readWorkspace(reader, workspace_id),
      principal: await readMessagePrincipal(reader, workspace_id, person_id),
    })),
  );
  return places.flatMap(({ workspace, principal }) =>
    workspace === undefined || principal === null ? [] : [{ workspace, principal }],
  );
}

async function listWaits(deps: SlackDeps, places: readonly Place[]): Promise<Answer> {
  const blocks: KnownBlock[] = [];
  for (const { workspace, principal } of places) {
    const { workspace_id: workspaceId, name, slug } = workspace;
    const input = inboxRequest.validate({ workspaceId, limit: QUESTIONS_MAX });
    // The validator fills in the defaults.
    const filled = input as RequestInput<typeof endpoints.uncertainties.inbox.request>;
    const { uncertainties, nextCursor } = await listInbox(deps, principal, filled);
    const title = titleOfList(uncertainties.length, nextCursor !== null);
    blocks.push({ type: 'section', text: plain(`${title} in ${name}.`) });
    for (const { uncertaintyId, title: asked } of uncertainties) {
      const url = `${deps.baseUrl}/w/${slug}/inbox/${uncertaintyId}`;
      const text = plain(quote(asked, TITLE_CHARS_MAX));
      blocks.push({ type: 'section', text, accessory: openButton({ url }, blocks.length) });
    }
  }
  return { ...answer('What waits for you'), blocks: blocks.slice(0, BLOCKS_MAX) };
}

function titleOfList(count: number, hasMore: boolean): string {
  if (hasMore) return `More than ${QUESTIONS_MAX} questions wait`;
  if (count === 1) return '1 question waits';
  return count === 0 ? 'Nothing waits' : `${count} questions wait`;
}

/** Enqueues a job as the person, by the function that the console calls. */
async function enqueue(
  deps: SlackDeps,
  { workspace, principal }: Place,
  text: string,
  { trigger_id }: SlackCommand,
): Promise<Answer> {
  if (!principal.scopes.has('enqueue')) return answer('Your role does not allow new jobs.');
  const { workspace_id: workspaceId, slug } = workspace;
  const page = { limit: REPOSITORIES_READ_MAX, before: null };
  const repositories = await listRepositories(deps.database.reader, workspaceId, page);
  const found = findRepository(repositories, text);
  if (found === null) {
    if (repositories.length === 0) return answer('The workspace has no repositories yet.');
    const labels = repositories.slice(0, REPOSITORIES_NAMED_MAX).map(({ label }) => label);
    return answer(`Begin with a repository, then say what to do: ${labels.join(', ')}. ${HELP}`);
  }
  const { repository, prompt } = found;
  const body = { workspaceId, repoId: repository.repo_id, kind: 'work', prompt };
  const input = enqueueRequest.validate({ ...body, idempotencyKey: `slack-${trigger_id}` });
  const filled = input as RequestInput<typeof endpoints.jobs.enqueue.request>;
  const { jobId } = await actForMessage(workspaceId, principal.principalId, () =>
    enqueueJob(deps, principal, filled),
  );
  const said = `Enqueued in ${repository.label}: ${quote(prompt, TITLE_CHARS_MAX)}`;
  const url = `${deps.baseUrl}/w/${slug}/jobs/${jobId}`;
  const section = {
    type: 'section' as const,
    text: plain(said),
    accessory: openButton({ url }, 0),
  };
  return { ...answer(said), blocks: [section] };
}

/** The repository that a text begins with, by its label or the last part of it, and the rest. */
function findRepository(
  repositories: readonly RepositoryRow[],
  text: string,
): { repository: RepositoryRow; prompt: string } | null {
  const begins = (name: string) =>
    text.toLowerCase().startsWith(name.toLowerCase()) && /^\s/.test(text.slice(name.length));
  const byLabel = repositories.map((repository) => ({ repository, name: repository.label }));
  const byPart = byLabel.map(({ repository, name }) => {
    return { repository, name: name.slice(name.lastIndexOf('/') + 1) };
  });
  const longest = (named: typeof byLabel) => {
    const found = named.filter(({ name }) => begins(name));
    const length = Math.max(...found.map(({ name }) => name.length));
    return found.filter(({ name }) => name.length === length);
  };
  const exact = longest(byLabel);
  const [one, other] = exact.length > 0 ? exact : longest(byPart);
  if (one === undefined || other !== undefined) return null;
  const prompt = text.slice(one.name.length).trim();
  return prompt === '' ? null : { repository: one.repository, prompt };
}

function answer(text: string): Answer {
  return { response_type: 'ephemeral', text: escapeSlack(text) };
}

/** Slack escapes three characters of what a person types. */
function unescapeSlack(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

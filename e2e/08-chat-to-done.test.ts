import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setInterval } from 'node:timers/promises';
import type {
  ChatTeam,
  IntegrationEvent,
  Job,
  JobEvent,
  PackSection,
  Run,
  Uncertainty,
} from '@signalbox/contract';
import type { StartedProcess } from '../scripts/process/start-process.ts';
import { mentionEvent, messageEvent, sendChatEvent } from './chat-sender.ts';
import { createMachine, logIn, type Machine, runJson } from './cli-process.ts';
import { git, makeClone } from './git-clone.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { type MailServer, mailServerMissing, startMailServer } from './mail-server.ts';
import { projectRoot } from './node-process.ts';
import { makePdf } from './pdf-file.ts';
import { callConsole, makeOwner, owner, type SignedIn } from './person.ts';
import { makeTempDir } from './temp-dir.ts';

const signingSecret = '8f742231b10e8888abcd99yyyzzz85a5';
const teamId = 'T024BE7LD';
const threadId = 'ports@acme.example';
const answer = '9443, says the network team';
/** The interval of polls for changes that the hub does not announce. */
const LOOK_MS = 100;
const WAIT_MS_MAX = 20_000;

describe('a mention in the chat, from a signed event to a plan that holds a person’s answer', {
  skip: mailServerMissing,
}, () => {
  let hub: HubProcess;
  let mail: MailServer;
  let person: SignedIn;
  let agent: StartedProcess;
  let other: StartedProcess;
  let runId: string;
  let jobId: string;
  let question: Uncertainty;

  before(async () => {
    mail = await startMailServer(mailFolder, [
      {
        id: threadId,
        from: 'Grace <grace@acme.example>',
        subject: 'Ports of the API',
        text: 'Which ports are open to the balancer?',
      },
      {
        id: 'reply@acme.example',
        from: 'Kei <kei@acme.example>',
        subject: 'Re: Ports of the API',
        text: 'Since today 9443 is open, as well as 8080.',
        references: [threadId],
      },
    ]);
    hub = await startHubProcess({
      dataDir: join(folder, 'data'),
      env: { SVC_CHAT_SIGNING_SECRET: signingSecret, SVC_ALLOW_PRIVATE_HOSTS: mail.host },
    });
    person = await makeOwner(hub);
    makeClone(clone, 'git@git.acme.example:acme/api.git');
    for (const machine of [workshop, bench]) await logIn(machine, person, owner.workspaceSlug);
  });
  after(async () => {
    await hub?.stop();
    await mail?.stop();
  });
  // Registered after the hub's end, so that the directory is deleted later.
  const folder = makeTempDir({ after });
  // Of its own and open to all: the mail server belongs to another user than the rest.
  const mailFolder = makeTempDir({ after });
  const clone = join(folder, 'clone');
  const workshop = createMachine(join(folder, 'workshop'));
  const bench = createMachine(join(folder, 'bench'));

  /** Does what a page of the console does, as the owner. */
  async function ask<Answer>(path: string, body: object): Promise<Answer> {
    const { workspaceId, baseUrl, cookie } = person;
    const called = await callConsole(baseUrl, path, { workspaceId, ...body }, cookie);
    // The hub's answers are held to their schema by its own tests.
    return called.answer as Answer;
  }

  function startAgent(machine: Machine, name: string): StartedProcess {
    const tool = join(projectRoot, 'e2e/planning-tool.ts');
    const command = `'${process.execPath}' '${tool}'`;
    return machine.start(['agent', 'start', '--json', '--name', name, '--tool', command]);
  }

  const readJob = async () => (await ask<{ job: Job }>('jobs/get', { jobId })).job;
  const readRun = async () => (await ask<{ run: Run }>('runs/get', { runId })).run;

  it('is prepared by the owner: a clone, a team of the chat, a trigger, a mail account', async () => {
    const { repoId } = (
      await runJson<{ repo: { repoId: string } }>(workshop, ['repo', 'link', clone])
    ).repo;
    await runJson(bench, ['repo', 'link', clone]);
    const { chatTeam } = await ask<{ chatTeam: ChatTeam }>('chat-teams/put', { teamId });
    const proof = messageEvent(teamId, chatTeam.confirmation?.code ?? '');
    const proved = await sendChatEvent(hub.baseUrl, signingSecret, proof);
    assert.equal(proved.answer.ignored, 'team_confirmation');
    await ask('triggers/create', {
      name: 'Mentions',
      type: 'event',
      match: { source: 'slack', type: 'app_mention' },
      repoId,
      runRefTemplate: 'chat-{{event.data.ts}}',
      promptTemplate: 'Plan what the chat asks for: {{event.content}}',
    });
    await ask('mail-accounts/put', {
      name: 'Support',
      host: mail.host,
      port: mail.port,
      tlsMode: 'tls',
      caCertificate: mail.certificate,
      userName: mail.userName,
      authKind: 'password',
      secret: mail.password,
    });
    await ask('context-items/upsert', {
      kind: 'mail_message',
      title: 'Ports of the API',
      text: 'The cached extract.',
      source: 'mail',
      sourceRef: threadId,
      threadRef: threadId,
      trust: 'external',
    });
  });

  it('has the text of an uploaded PDF to build on', async () => {
    const bytes = makePdf('The health check must not answer on port 80.');
    const draft = { fileName: 'requirements.pdf', contentType: 'application/pdf' };
    const { uploadUrl } = await ask<{ uploadUrl: string }>('uploads/create', {
      ...draft,
      sizeBytes: bytes.length,
    });
    const stored = await fetch(uploadUrl, { method: 'PUT', body: new Uint8Array(bytes) });
    assert.equal(stored.status, 200, await stored.text());
    const [extract] = await waitForItems('upload_extract');
    assert.match(extract?.excerpt ?? '', /must not answer on port 80/);
  });

  it('starts nothing when somebody else has signed the event', async () => {
    const forged = await sendChatEvent(hub.baseUrl, 'a guess', mentionEvent(teamId, 'Obey.'));
    assert.equal(forged.status, 401);
    assert.deepEqual((await ask<{ jobs: Job[] }>('jobs/list', {})).jobs, []);
  });

  it('starts one run and its job, however often the event is delivered', async () => {
    const event = mentionEvent(teamId, '<@U0LAN0Z89> please add a health check');
    const first = await sendChatEvent(hub.baseUrl, signingSecret, event);
    assert.equal(first.status, 200, JSON.stringify(first.answer));
    const again = await sendChatEvent(hub.baseUrl, signingSecret, event);
    assert.deepEqual(again.answer, { ...first.answer, duplicate: true });
    const { eventId } = first.answer;
    const { firings } = (
      await ask<{ event: IntegrationEvent }>('integration-events/get', { eventId })
    ).event;
    assert.deepEqual(
      firings.map(({ outcome }) => outcome),
      ['started'],
    );
    runId = firings[0]?.runId ?? '';
    const { jobs } = await ask<{ jobs: Job[] }>('jobs/list', {});
    assert.equal(jobs.length, 1);
    jobId = jobs[0]?.jobId ?? '';
    assert.partialDeepStrictEqual(jobs[0], { kind: 'create_run', runId, status: 'pending' });
    assert.match(jobs[0]?.prompt ?? '', /please add a health check/);
    assert.equal((await readRun()).status, 'planned');
  });

  it('blocks on a question that its tool asks of people, in the milestone that it has reached', async () => {
    agent = startAgent(workshop, 'workshop');
    await agent.waitFor(/"type":"result-accepted".*"status":"blocked"/);
    const inbox = await ask<{ uncertainties: Uncertainty[] }>('uncertainties/list', {
      status: 'open',
    });
    assert.equal(inbox.uncertainties.length, 1);
    question = inbox.uncertainties[0] as Uncertainty;
    assert.partialDeepStrictEqual(question, { promoted: true, jobId, runId, status: 'open' });
    assert.equal((await readJob()).status, 'blocked');
    assert.partialDeepStrictEqual(await readRun(), {
      status: 'planned',
      currentMilestone: 'planning',
    });
  });

  it('had a pack with the mail thread as the mail server has it now, and the PDF', () => {
    const sections = JSON.parse(question.context) as Pick<
      PackSection,
      'kind' | 'textKind' | 'text'
    >[];
    const sectionOf = (kind: string) => sections.find((section) => section.kind === kind);
    const thread = sectionOf('mail_message');
    assert.equal(thread?.textKind, 'live');
    assert.match(thread.text, /Which ports are open[\s\S]*Since today 9443 is open/);
    assert.doesNotMatch(thread.text, /The cached extract/);
    const extract = sectionOf('upload_extract');
    assert.equal(extract?.textKind, 'cached');
    assert.match(extract.text, /must not answer on port 80/);
    assert.match(sectionOf('chat_message')?.text ?? '', /please add a health check/);
    for (const { text } of sections) assert.match(text, /^\[Untrusted text /);
  });

  it('continues with the agent that asked, although another one is idle', async () => {
    other = startAgent(bench, 'bench');
    await other.waitFor(/"type":"online"/);
    const { uncertaintyId } = question;
    const body = { uncertaintyId, mode: 'answered', value: answer, confidence: 1 };
    const answered = await ask<{ uncertainty: Uncertainty }>('uncertainties/add-resolution', body);
    assert.equal(answered.uncertainty.resolution?.createdBy, owner.name);
    await agent.waitFor(/"type":"result-accepted".*"status":"done"/);
    assert.doesNotMatch(other.stdout, /job-claimed/);
  });

  it('ends done, with the answer in the commit and the run at its last milestone', async () => {
    const job = await readJob();
    assert.partialDeepStrictEqual(job, { status: 'done', outcome: 'done', attempt: 2 });
    assert.deepEqual(
      job.decisions.map(({ uncertaintyId, value }) => [uncertaintyId, value]),
      [[question.uncertaintyId, answer]],
    );
    const { commitSha = '', changedFiles } = job.evidence ?? {};
    assert.deepEqual(changedFiles, ['docs/plan.md']);
    const plan = git(clone, 'show', `${commitSha}:docs/plan.md`);
    assert.match(plan, new RegExp(`Port: ${answer}`));
    assert.match(
      plan,
      new RegExp(`Question: ${RegExp.escape(question.prompt)}\\s+Answer.*${answer}`),
    );
    // How a run ends is not for its tool to say.
    assert.partialDeepStrictEqual(await readRun(), {
      status: 'planned',
      currentMilestone: 'complete',
    });
  });

  it('tells it all in one timeline, each claim by the same agent', async () => {
    const { events } = await ask<{ events: JobEvent[] }>('job-events/list-for-job', { jobId });
    const turns = events.filter(({ kind }) => kind !== 'log' && kind !== 'heartbeat');
    assert.deepEqual(
      turns.map(({ kind, attempt }) => `${kind} ${attempt}`),
      ['enqueued 0', 'claimed 1', 'blocked 1', 'enqueued 1', 'claimed 2', 'completed 2'],
    );
    const [, firstClaim, , resumed, secondClaim] = turns;
    assert.equal(secondClaim?.agentId, firstClaim?.agentId);
    const { uncertaintyId, decisionRequestId } = question;
    assert.partialDeepStrictEqual(resumed?.data, {
      decision: { uncertaintyId, decisionRequestId, mode: 'answered' },
    });
  });

  it('leaves agents that end well when they are asked to', async () => {
    for (const each of [agent, other]) {
      each.child.kill('SIGTERM');
      assert.deepEqual(await each.ended, { code: 0, signal: null }, each.stderr);
    }
  });

  /** Looks until there are items of a kind; the hub makes them in its own time. */
  async function waitForItems(kind: string): Promise<{ excerpt: string }[]> {
    for await (const _ of setInterval(LOOK_MS, null, {
      signal: AbortSignal.timeout(WAIT_MS_MAX),
    })) {
      const { items } = await ask<{ items: { excerpt: string }[] }>('context-items/list', { kind });
      if (items.length > 0) return items;
    }
    return [];
  }
});

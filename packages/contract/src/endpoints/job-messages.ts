import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Defaulted,
  Id,
  Integer,
  List,
  Nullable,
  Ok,
  OneOf,
  TEXT_CHARS_MAX,
  Text,
  Timestamp,
} from '../schema.ts';
import { exampleIds } from './example-ids.ts';
import { exampleJob } from './job-examples.ts';
import { ClaimGeneration, claimErrors } from './job-schemas.ts';

/** The messages of one job. They become a prompt together, so their texts are bounded as one. */
export const JOB_MESSAGES_MAX = 100;

const MessageNumber = Integer(1, JOB_MESSAGES_MAX, 'The place among the messages of the job.');

export const JobMessage = Type.Object({
  number: MessageNumber,
  text: Text(TEXT_CHARS_MAX),
  author: Type.Object({ id: Text(200), name: Nullable(Text(200)) }),
  createdAt: Timestamp(),
  state: OneOf(['queued', 'delivered', 'next_round'], {
    description:
      'queued: it waits for the end of a turn or of the job. delivered: the tool of the job has ' +
      'it. next_round: it is in the prompt of nextJobId.',
  }),
  deliveredAt: Nullable(Timestamp()),
  nextJobId: Nullable(Id('job')),
});
export type JobMessage = Static<typeof JobMessage>;

export const TakesMessages = Type.Optional(
  Type.Boolean({
    description: 'True: the job runs, and its tool gets messages when a turn of it ends.',
  }),
);

export const MessagesDelivered = List(
  MessageNumber,
  JOB_MESSAGES_MAX,
  'All messages that the tool of this attempt has, by their numbers.',
);

export const jobsTakeMessages = defineEndpoint({
  name: 'jobsTakeMessages',
  path: '/control-plane/v1/jobs/take-messages',
  tag: 'Jobs',
  scopes: ['agent'],
  console: false,
  repeat: 'safe',
  summary: 'Take the messages to a running job, and tell which ones its tool has',
  description:
    'An agent calls it when it starts a tool that takes messages, and when a turn of the tool has ' +
    'ended. A message stays queued until an agent names it in delivered, and is queued again if ' +
    'the tool of a later attempt does not have it. The answer has all messages that are in no ' +
    'round, oldest first.',
  request: Type.Object({
    workspaceId: Id('workspace'),
    jobId: Id('job'),
    agentId: Id('agent'),
    claimGeneration: ClaimGeneration,
    delivered: Defaulted(MessagesDelivered, []),
  }),
  response: Ok({ messages: List(JobMessage, JOB_MESSAGES_MAX) }),
  errors: ['JOB_NOT_FOUND', ...claimErrors],
  example: {
    request: {
      workspaceId: exampleIds.workspace,
      jobId: exampleIds.job,
      agentId: exampleIds.agent,
      claimGeneration: 1,
      delivered: [],
    },
    response: {
      ok: true,
      messages: [
        {
          number: 1,
          text: 'Please handle the empty list, too.',
          author: exampleJob.createdBy,
          createdAt: '2026-11-02T09:02:00.000Z',
          state: 'queued',
          deliveredAt: null,
          nextJobId: null,
        },
      ],
    },
  },
});

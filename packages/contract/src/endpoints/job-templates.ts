import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Id, Integer, List, Nullable, Ok, OneOf, Text, Timestamp } from '../schema.ts';
import { exampleIds } from './example-ids.ts';
import { exampleJob } from './job-examples.ts';
import { EnqueueRequest, jobFields, jobKinds, Priority } from './job-schemas.ts';

/** A list has all of them, and all of their values. */
export const JOB_TEMPLATES_MAX = 50;
/** Of the values of one template, as JSON. */
export const TEMPLATE_VALUES_CHARS_MAX = 20_000;

const TemplateName = Text(100, {
  minLength: 1,
  pattern:
    '^[^\\s\\u0000-\\u001f\\u007f](?:[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f])?$',
  description: 'Its name in the workspace.',
});

/** Fields of `jobs/enqueue`. None has a default here: a template keeps what was chosen. */
export const JobTemplateValues = Type.Object({
  repoId: Type.Optional(Id('repository')),
  kind: Type.Optional(OneOf(jobKinds)),
  role: Type.Optional(Text(100)),
  prompt: Type.Optional(
    Text(TEMPLATE_VALUES_CHARS_MAX, {
      description:
        'May have blanks such as {{area}}, which a person fills in; {{prompt}} is the task.',
    }),
  ),
  requirements: jobFields.requirements,
  priority: Type.Optional(Priority),
  budget: jobFields.budget,
  maxAttempts: Type.Optional(Integer(1, 100)),
  concurrencyKey: jobFields.concurrencyKey,
  variants: EnqueueRequest.properties.variants,
});
export type JobTemplateValues = Static<typeof JobTemplateValues>;

export const JobTemplate = Type.Object({
  name: TemplateName,
  values: JobTemplateValues,
  updatedAt: Timestamp(),
  updatedBy: Type.Object({ id: Text(200), name: Nullable(Text(200)) }),
});
export type JobTemplate = Static<typeof JobTemplate>;

const exampleTemplate: JobTemplate = {
  name: 'review',
  values: {
    kind: 'pr_review',
    prompt: 'Review the changes to {{area}}.',
    requirements: { tool: 'claude' },
    priority: 10,
  },
  updatedAt: '2026-11-02T09:00:00.000Z',
  updatedBy: exampleJob.createdBy,
};

const common = { tag: 'Jobs', console: true, repeat: 'safe' } as const;

/** Values for the jobs that a workspace enqueues often. Its members share them. */
export const jobTemplates = {
  list: defineEndpoint({
    ...common,
    name: 'jobTemplatesList',
    path: '/control-plane/v1/job-templates/list',
    scopes: ['read', 'agent', 'enqueue'],
    summary: 'List the templates of jobs',
    description: 'By name.',
    request: Type.Object({ workspaceId: Id('workspace') }),
    response: Ok({ templates: List(JobTemplate, JOB_TEMPLATES_MAX) }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, templates: [exampleTemplate] },
    },
  }),
  save: defineEndpoint({
    ...common,
    name: 'jobTemplatesSave',
    path: '/control-plane/v1/job-templates/save',
    scopes: ['enqueue'],
    summary: 'Save a template of jobs',
    description: 'Replaces the template of this name, if there is one. Audited.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      name: TemplateName,
      values: JobTemplateValues,
    }),
    response: Ok({ template: JobTemplate }),
    errors: ['REPO_NOT_FOUND', 'LIMIT_REACHED'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        name: exampleTemplate.name,
        values: exampleTemplate.values,
      },
      response: { ok: true, template: exampleTemplate },
    },
  }),
  remove: defineEndpoint({
    ...common,
    name: 'jobTemplatesRemove',
    path: '/control-plane/v1/job-templates/remove',
    scopes: ['enqueue'],
    summary: 'Delete a template of jobs',
    description: 'Succeeds also if there is no template of this name. Audited.',
    request: Type.Object({ workspaceId: Id('workspace'), name: TemplateName }),
    response: Ok({}),
    example: {
      request: { workspaceId: exampleIds.workspace, name: exampleTemplate.name },
      response: { ok: true },
    },
  }),
} as const;

import Type from 'typebox';
import { Defaulted, Id, Nullable, Ok, OneOf, Text } from '../../schema.ts';
import { exampleIds } from '../example-ids.ts';
import { Priority } from '../job-schemas.ts';
import {
  CronPattern,
  exampleTrigger,
  HOURLY_CAP_DEFAULT,
  HourlyCap,
  PromptTemplate,
  RunRefTemplate,
  TimeZone,
  TitleTemplate,
  Trigger,
  TriggerMatch,
  triggerTypes,
} from '../triggers.ts';
import { defineConsoleEndpoint } from './fields.ts';

const TriggerName = Text(200, { minLength: 1 });
const triggerRef = { workspaceId: Id('workspace'), triggerId: Id('trigger') };
const exampleRef = { workspaceId: exampleIds.workspace, triggerId: exampleTrigger.triggerId };

const changeableFields = {
  name: Type.Optional(TriggerName),
  match: Type.Optional(TriggerMatch),
  cron: Type.Optional(CronPattern),
  timeZone: Type.Optional(TimeZone),
  repoId: Type.Optional(Id('repository')),
  runRefTemplate: Type.Optional(RunRefTemplate),
  titleTemplate: Type.Optional(Nullable(TitleTemplate)),
  promptTemplate: Type.Optional(PromptTemplate),
} as const;

const changed = { trigger: Trigger } as const;

export const triggerSettings = {
  create: defineConsoleEndpoint({
    name: 'consoleTriggerCreate',
    path: '/console-api/v1/triggers/create',
    repeat: 'once',
    summary: 'Create a trigger',
    description:
      'For owners and admins. Type event takes only match; type schedule takes only cron and ' +
      'timeZone (by default UTC). A workspace has at most 100 triggers.',
    request: Type.Object({
      ...changeableFields,
      workspaceId: Id('workspace'),
      name: TriggerName,
      type: OneOf(triggerTypes),
      repoId: Id('repository'),
      runRefTemplate: RunRefTemplate,
      promptTemplate: PromptTemplate,
      priority: Defaulted(Priority, 0),
      hourlyCap: Defaulted(HourlyCap, HOURLY_CAP_DEFAULT),
      enabled: Defaulted(Type.Boolean(), true),
    }),
    response: Ok(changed),
    errors: ['REPO_NOT_FOUND'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        name: exampleTrigger.name,
        type: 'event',
        match: { source: 'tracker', type: 'issue.opened' },
        repoId: exampleIds.repository,
        runRefTemplate: exampleTrigger.runRefTemplate,
        promptTemplate: exampleTrigger.promptTemplate,
      },
      response: { ok: true, trigger: exampleTrigger },
    },
  }),
  update: defineConsoleEndpoint({
    name: 'consoleTriggerUpdate',
    path: '/console-api/v1/triggers/update',
    repeat: 'once',
    summary: 'Change a trigger',
    description:
      'For owners and admins. Absent fields do not change, and the type never changes. The next ' +
      'time of a schedule is computed from now.',
    request: Type.Object({
      ...changeableFields,
      ...triggerRef,
      priority: Type.Optional(Priority),
      hourlyCap: Type.Optional(HourlyCap),
    }),
    response: Ok(changed),
    errors: ['TRIGGER_NOT_FOUND', 'REPO_NOT_FOUND'],
    example: {
      request: { ...exampleRef, hourlyCap: 10 },
      response: { ok: true, trigger: { ...exampleTrigger, hourlyCap: 10 } },
    },
  }),
  enable: defineConsoleEndpoint({
    name: 'consoleTriggerEnable',
    path: '/console-api/v1/triggers/enable',
    repeat: 'once',
    summary: 'Enable a trigger',
    description: 'For owners and admins. A schedule fires at its next time from now.',
    request: Type.Object(triggerRef),
    response: Ok(changed),
    errors: ['TRIGGER_NOT_FOUND'],
    example: { request: exampleRef, response: { ok: true, trigger: exampleTrigger } },
  }),
  disable: defineConsoleEndpoint({
    name: 'consoleTriggerDisable',
    path: '/console-api/v1/triggers/disable',
    repeat: 'once',
    summary: 'Disable a trigger',
    description: 'For owners and admins. The trigger starts nothing until it is enabled again.',
    request: Type.Object(triggerRef),
    response: Ok(changed),
    errors: ['TRIGGER_NOT_FOUND'],
    example: {
      request: exampleRef,
      response: { ok: true, trigger: { ...exampleTrigger, enabled: false } },
    },
  }),
  delete: defineConsoleEndpoint({
    name: 'consoleTriggerDelete',
    path: '/console-api/v1/triggers/delete',
    repeat: 'once',
    summary: 'Delete a trigger',
    description: 'For owners and admins. Its runs stay, and the ledger keeps its id.',
    request: Type.Object(triggerRef),
    response: Ok({ deleted: Type.Unsafe<true>({ type: 'boolean', const: true }) }),
    errors: ['TRIGGER_NOT_FOUND'],
    example: { request: exampleRef, response: { ok: true, deleted: true } },
  }),
} as const;

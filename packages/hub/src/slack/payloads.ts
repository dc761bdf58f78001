import Type from 'typebox';
import { HubError } from '../base/errors.ts';
import { parseJsonBody } from '../http/json-body.ts';
import { createRequestValidator } from '../http/validation.ts';

/*
 * The payloads of Slack, as far as they are used. They come by the app's own connection or signed,
 * and still are read like any input.
 */

const ID_CHARS_MAX = 100;
const SlackId = Type.String({ pattern: '^[A-Z0-9]{1,100}$' });
const Words = Type.String({ maxLength: 3_000 });
const Name = Type.String({ maxLength: 1_000 });
const Short = Type.String({ minLength: 1, maxLength: 300 });
const person = {
  user: Type.Object({ id: SlackId }),
  team: Type.Object({ id: SlackId }),
};

const Command = Type.Object({
  team_id: SlackId,
  user_id: SlackId,
  trigger_id: Short,
  text: Type.Optional(Words),
  team_domain: Type.Optional(Name),
  user_name: Type.Optional(Name),
});
const Press = Type.Object({
  ...person,
  trigger_id: Short,
  container: Type.Object({
    channel_id: SlackId,
    message_ts: Type.String({ pattern: `^[0-9.]{1,${ID_CHARS_MAX}}$` }),
  }),
  actions: Type.Array(
    Type.Object({
      action_id: Short,
      action_ts: Short,
      value: Type.Optional(Type.String({ maxLength: 2_000 })),
    }),
    { minItems: 1, maxItems: 1 },
  ),
});
const Reply = Type.Object({
  ...person,
  view: Type.Object({
    id: Short,
    private_metadata: Words,
    state: Type.Object({
      values: Type.Object({
        answer: Type.Object({ text: Type.Object({ value: Type.Union([Words, Type.Null()]) }) }),
      }),
    }),
  }),
});

export type SlackCommand = Type.Static<typeof Command>;
export type SlackPress = Type.Static<typeof Press>;
export type SlackReply = Type.Static<typeof Reply>;

const command = createRequestValidator(Command);
const press = createRequestValidator(Press);
const reply = createRequestValidator(Reply);

/** @throws HubError INVALID_REQUEST */
export const readCommand = (body: unknown): SlackCommand => command.validate(body);
/** @throws HubError INVALID_REQUEST */
export const readPress = (body: unknown): SlackPress => press.validate(body);
/** @throws HubError INVALID_REQUEST */
export const readReply = (body: unknown): SlackReply => reply.validate(body);

/** The kind of an interaction; undefined: it says none. */
export function payloadKindOf(payload: unknown): unknown {
  return (payload as { type?: unknown } | null | undefined)?.type;
}

/** The payload in the form that Slack posts. @throws HubError INVALID_REQUEST */
export function payloadOf(form: unknown): unknown {
  const { payload } = (form ?? {}) as { payload?: unknown };
  if (typeof payload !== 'string') throw new HubError('INVALID_REQUEST', 'Send a payload.');
  return parseJsonBody(Buffer.from(payload));
}

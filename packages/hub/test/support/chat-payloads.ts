import { TEAM } from './integration-world.ts';

/*
 * Payloads in the form that the Slack Events API documents: the outer event with its
 * authorizations, and the inner one with its blocks.
 */

type Inner = Record<string, unknown>;

const CHANNEL = 'C0LAN2Q65';
const USER = 'U061F7AUR';
let drawn = 0;

/** The outer event around an inner one. */
export function callback(event: Inner, outer: Inner = {}): Inner {
  drawn += 1;
  return {
    token: 'XXYYZZ',
    team_id: TEAM,
    context_team_id: TEAM,
    context_enterprise_id: null,
    api_app_id: 'A0FDCE5XPDA',
    event,
    type: 'event_callback',
    event_id: `Ev0PV52K${String(drawn).padStart(3, '0')}`,
    event_time: 1_793_610_000,
    authorizations: [
      {
        enterprise_id: null,
        team_id: TEAM,
        user_id: 'U0LAN0Z89',
        is_bot: true,
        is_enterprise_install: false,
      },
    ],
    is_ext_shared_channel: false,
    event_context: '4-eyJldCI6Im1lc3NhZ2UiLCJ0aWQiOiJUMDI0QkU3TEQifQ',
    ...outer,
  };
}

/** A message as a person writes it. */
export function message(text: string, ts = '1793610000.000100', more: Inner = {}): Inner {
  return {
    user: USER,
    type: 'message',
    ts,
    client_msg_id: '6f7b0f2e-7f6c-4e2e-9f0e-0d3c1a2b4c5d',
    text,
    team: TEAM,
    blocks: [
      {
        type: 'rich_text',
        block_id: 'Vx3Qq',
        elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }],
      },
    ],
    channel: CHANNEL,
    event_ts: ts,
    channel_type: 'channel',
    ...more,
  };
}

export function reply(text: string, ts: string, threadTs: string): Inner {
  return message(text, ts, { thread_ts: threadTs, parent_user_id: USER });
}

/** The same message as the app gets it once more when it is mentioned. */
export function mention(text: string, ts = '1793610000.000200'): Inner {
  const { channel_type: _unused, ...fields } = message(text, ts, { type: 'app_mention' });
  return fields;
}

export function edit(
  text: string,
  { ts, editedTs, before }: { ts: string; editedTs: string; before: string | null },
): Inner {
  const { channel, channel_type, event_ts: _unused, ...fields } = message(text, ts);
  return {
    type: 'message',
    subtype: 'message_changed',
    message: { ...fields, edited: { user: USER, ts: editedTs }, source_team: TEAM },
    ...(before === null ? {} : { previous_message: { ...fields, text: before } }),
    channel,
    hidden: true,
    ts: editedTs,
    event_ts: editedTs,
    channel_type,
  };
}

export function deletion(ts: string, text: string, atTs = '1793610900.000900'): Inner {
  const { channel, channel_type, event_ts: _unused, ...fields } = message(text, ts);
  return {
    type: 'message',
    subtype: 'message_deleted',
    previous_message: fields,
    channel,
    hidden: true,
    deleted_ts: ts,
    event_ts: atTs,
    ts: atTs,
    channel_type,
  };
}

/** Deletes the first message of a thread with replies: the chat puts a tombstone in its place. */
export function tombstone(ts: string, text: string): Inner {
  const changed = edit(text, { ts, editedTs: '1793610900.000950', before: text });
  const stone = {
    subtype: 'tombstone',
    text: 'This message was deleted.',
    user: 'USLACKBOT',
    hidden: true,
    type: 'message',
    thread_ts: ts,
    reply_count: 1,
    ts,
  };
  return { ...changed, message: stone };
}

export function fileShare(text: string, ts = '1793610000.000300'): Inner {
  return message(text, ts, {
    subtype: 'file_share',
    upload: false,
    display_as_bot: false,
    files: [
      {
        id: 'F0TD0GUTS',
        created: 1_793_610_000,
        timestamp: 1_793_610_000,
        name: 'balancer.pdf',
        title: 'Balancer',
        mimetype: 'application/pdf',
        filetype: 'pdf',
        pretty_type: 'PDF',
        user: USER,
        size: 104_321,
        mode: 'hosted',
        is_external: false,
        url_private: 'https://files.slack.com/files-pri/T024BE7LD-F0TD0GUTS/balancer.pdf',
        permalink: 'https://acme.slack.com/files/U061F7AUR/F0TD0GUTS/balancer.pdf',
      },
    ],
  });
}

export function botMessage(text: string): Inner {
  return {
    type: 'message',
    subtype: 'bot_message',
    ts: '1793610000.000400',
    text,
    username: 'ci',
    bot_id: 'B19LU7CSY',
    channel: CHANNEL,
    event_ts: '1793610000.000400',
    channel_type: 'channel',
  };
}

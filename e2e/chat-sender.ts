import { createHmac } from 'node:crypto';

const MS_PER_SECOND = 1_000;

/** The mention of an app, in the form that the Slack Events API documents. */
export function mentionEvent(teamId: string, text: string): object {
  const ts = '1793610000.000200';
  return {
    token: 'XXYYZZ',
    team_id: teamId,
    api_app_id: 'A0FDCE5XPDA',
    event: {
      type: 'app_mention',
      user: 'U061F7AUR',
      ts,
      client_msg_id: '6f7b0f2e-7f6c-4e2e-9f0e-0d3c1a2b4c5d',
      text,
      team: teamId,
      channel: 'C0LAN2Q65',
      event_ts: ts,
    },
    type: 'event_callback',
    event_id: 'Ev0PV52K25',
    event_time: 1_793_610_000,
    authorizations: [{ enterprise_id: null, team_id: teamId, user_id: 'U0LAN0Z89', is_bot: true }],
    is_ext_shared_channel: false,
  };
}

/** A message that a person wrote before the mention. */
export function messageEvent(teamId: string, text: string): object {
  const ts = '1793610000.000100';
  return {
    team_id: teamId,
    event: { type: 'message', user: 'U061F7AUR', ts, text, channel: 'C0LAN2Q65', event_ts: ts },
    type: 'event_callback',
    event_id: 'Ev0PV52K24',
    event_time: 1_793_610_000,
  };
}

/** Posts a payload to the hub as the chat does: signed over the very bytes, now. */
export async function sendChatEvent(
  baseUrl: string,
  signingSecret: string,
  payload: object,
): Promise<{ status: number; answer: Record<string, unknown> }> {
  const body = JSON.stringify(payload);
  const timestamp = String(Math.floor(Date.now() / MS_PER_SECOND));
  const mac = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`);
  const response = await fetch(`${baseUrl}/integrations/chat/events/v1`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': `v0=${mac.digest('hex')}`,
    },
    body,
  });
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
}

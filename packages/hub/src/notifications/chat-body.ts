import type { Message } from './content.ts';
import { escapeSlack } from './slack-message.ts';

/** The chats whose incoming webhooks take messages. */
type ChatKind = 'slack' | 'teams' | 'discord';

/** A message for the incoming webhook of a chat. No text in it becomes a mention or a link. */
export function chatBody(kind: ChatKind, message: Message): object {
  return bodies[kind](message);
}

const bodies: Readonly<Record<ChatKind, (message: Message) => object>> = {
  // Block Kit. Plain text has no markup; `text` is what a notification shows, and has.
  slack: ({ title, text, url }) => ({
    text: escapeSlack(`${title}: ${text}`),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: title } },
      { type: 'section', text: { type: 'plain_text', text } },
      {
        type: 'actions',
        elements: [{ type: 'button', text: { type: 'plain_text', text: 'Open' }, url }],
      },
    ],
  }),
  // An Adaptive Card, as a workflow "when a webhook request is received" posts it.
  teams: ({ title, text, url }) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            { type: 'TextBlock', text: title, weight: 'Bolder', wrap: true },
            { type: 'TextBlock', text: escapeMarkdown(text), wrap: true },
          ],
          actions: [{ type: 'Action.OpenUrl', title: 'Open', url }],
        },
      },
    ],
  }),
  discord: ({ title, text, url }) => ({
    embeds: [{ title, description: escapeMarkdown(text), url }],
    allowed_mentions: { parse: [] },
  }),
};

function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\`*_~|[\](){}#>@:<-]/g, '\\$&');
}

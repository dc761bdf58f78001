import type { NotificationSender } from '../notifications/sender.ts';
import type { SlackApi, SlackLog } from '../notifications/slack-api.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { readWorkspace } from '../workspaces/store.ts';

export interface SlackDeps extends HubDeps {
  slack: SlackApi;
  notifications: NotificationSender;
  /** The address of the console. */
  readonly baseUrl: string;
  log: SlackLog & { error(context: object, message: string): void };
}

/** The page of a question at the console. */
export async function questionUrl(
  { database, baseUrl }: Pick<SlackDeps, 'database' | 'baseUrl'>,
  { workspaceId, uncertaintyId }: { workspaceId: string; uncertaintyId: string },
): Promise<string> {
  const workspace = await readWorkspace(database.reader, workspaceId);
  return `${baseUrl}/w/${workspace?.slug ?? ''}/inbox/${uncertaintyId}`;
}

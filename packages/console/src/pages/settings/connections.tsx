import { getRouteApi } from '@tanstack/react-router';
import { adminReason } from '../../parts/form/action-button.tsx';
import { usePageTitle } from '../../parts/page/page-title.ts';
import { ChatTeams } from '../../parts/settings/chat-teams.tsx';
import { IntegrationSecrets } from '../../parts/settings/integration-secrets.tsx';
import { MailAccounts } from '../../parts/settings/mail-accounts.tsx';
import { Section } from '../../parts/settings/section.tsx';
import { EmptyState } from '../../parts/status/empty-state.tsx';

const workspace = getRouteApi('/w/$slug');

/** The systems that send events and texts in: their secrets, chat teams and mail accounts. */
export function ConnectionsPage() {
  const { membership } = workspace.useRouteContext();
  usePageTitle(`Connections · ${membership.name}`);
  if (adminReason(membership.role) !== undefined) {
    return (
      <Section title="Connections">
        <EmptyState icon="globe" title="Owners and admins see the connections">
          Your role is {membership.role}. Connections are the systems, chat teams and mail accounts
          that this workspace hears from.
        </EmptyState>
      </Section>
    );
  }
  const { workspaceId } = membership;
  return (
    <>
      <IntegrationSecrets workspaceId={workspaceId} />
      <ChatTeams workspaceId={workspaceId} />
      <MailAccounts workspaceId={workspaceId} />
    </>
  );
}

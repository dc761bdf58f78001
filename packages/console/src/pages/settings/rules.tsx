import type { DecisionRule } from '@signalbox/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { callHub } from '../../api/hub-call.ts';
import { repositoriesQuery } from '../../api/job-queries.ts';
import { rulesQuery } from '../../api/rule-queries.ts';
import { ruleSentence, scopeWords } from '../../format/rule-words.ts';
import { plainText } from '../../format/text.ts';
import { showToast } from '../../parts/dialog/toast.ts';
import { viewerReason } from '../../parts/form/action-button.tsx';
import { ConfirmButton } from '../../parts/form/confirm-button.tsx';
import { usePageTitle } from '../../parts/page/page-title.ts';
import { Mark, RecordRows, Row, Section } from '../../parts/settings/section.tsx';
import { EmptyState } from '../../parts/status/empty-state.tsx';
import { RelativeTime, useNow } from '../../parts/text/relative-time.tsx';

const workspace = getRouteApi('/w/$slug');

/** Answers of people that also answer later questions. */
export function RulesPage() {
  const { membership } = workspace.useRouteContext();
  usePageTitle(`Rules · ${membership.name}`);
  const query = useQuery(rulesQuery(membership.workspaceId));
  return (
    <Section
      title="Rules"
      description="Each repeats the answer that a person gave to a question about an action of a tool."
    >
      <RecordRows
        what="the rules"
        query={query}
        label="Rules"
        items={({ rules }) => rules}
        empty={
          <EmptyState icon="list-todo" title="No rules yet" guide="/docs/guides/questions#rules">
            When you have allowed or refused an action, “Answer this from now on” on its question
            makes a rule.
          </EmptyState>
        }
      >
        {(rule) => <RuleRow key={rule.ruleId} rule={rule} />}
      </RecordRows>
    </Section>
  );
}

function RuleRow({ rule }: { rule: DecisionRule }) {
  const { membership } = workspace.useRouteContext();
  const { workspaceId, slug, role } = membership;
  const client = useQueryClient();
  const repos = useQuery(repositoriesQuery(workspaceId)).data?.repos ?? [];
  const isExpired = useNow((nowMs) => Date.parse(rule.expiresAt) <= nowMs);
  const { ruleId, scope, repoId, jobId, runId, createdBy, uses, lastUsedAt, revokedAt } = rule;
  const sentence = ruleSentence(rule);
  const hasEnded = revokedAt !== null || isExpired;
  const label = repos.find((repo) => repo.repoId === repoId)?.label ?? repoId;
  const place =
    scope === 'repository' ? label : `${scopeWords[scope]} (${jobId ?? runId}), ${label}`;
  const revoke = async () => {
    await callHub('decisionRules', 'revoke', { workspaceId, ruleId });
    await client.invalidateQueries(rulesQuery(workspaceId));
    showToast({ title: 'The rule is revoked' });
  };
  return (
    <Row
      title={
        <>
          <span className="wrap-anywhere">{sentence}</span>
          {hasEnded && <Mark>{revokedAt === null ? 'expired' : 'revoked'}</Mark>}
        </>
      }
      facts={[
        plainText(place),
        <span key="by">
          by {plainText(createdBy.name ?? createdBy.id)}, from{' '}
          <Link
            to="/w/$slug/inbox/$uncertaintyId"
            params={{ slug, uncertaintyId: rule.uncertaintyId }}
            className="underline"
          >
            this question
          </Link>
        </span>,
        <span key="uses">
          {uses === 0 ? 'not used yet' : `used ${uses === 1 ? 'once' : `${uses} times`}`}
          {lastUsedAt !== null && (
            <>
              , last <RelativeTime at={lastUsedAt} />
            </>
          )}
        </span>,
        !hasEnded && (
          <span key="until">
            ends <RelativeTime at={rule.expiresAt} />
          </span>
        ),
      ]}
      action={
        !hasEnded && (
          <ConfirmButton
            label="Revoke"
            of={sentence}
            title="Revoke this rule?"
            disabledReason={viewerReason(role)}
            onConfirm={revoke}
          >
            People are asked again. Answers that it has given stay.
          </ConfirmButton>
        )
      }
    />
  );
}

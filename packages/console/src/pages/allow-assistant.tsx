import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { assistantConsentQuery } from '../api/session-queries.ts';
import { AllowAssistantForm } from '../parts/form/allow-assistant-form.tsx';
import { CardPage } from '../parts/page/card-page.tsx';
import { usePageTitle } from '../parts/page/page-title.ts';
import { EndState } from '../parts/status/end-state.tsx';
import { Loading } from '../parts/status/loading.tsx';

/** The request of an assistant for access: who asks, for what, and the answer. */
export function AllowAssistantPage() {
  usePageTitle('Connect an assistant');
  // The query of the request, as the assistant sent it; the hub checks it.
  const [query] = useState(() => window.location.hash.slice(1));
  const consent = useQuery(assistantConsentQuery(query));
  const cannotAnswer = query === '' || consent.isError;
  return (
    <CardPage>
      {cannotAnswer && (
        <EndState icon="triangle-alert" tone="attention" title="This request cannot be answered">
          <p className="wrap-anywhere">{consent.error?.message ?? 'The link is incomplete.'}</p>
          <p>Nothing was sent to the assistant. Start its login again there.</p>
        </EndState>
      )}
      {!cannotAnswer && consent.isPending && <Loading what="the request" />}
      {consent.data && <AllowAssistantForm query={query} consent={consent.data} />}
    </CardPage>
  );
}

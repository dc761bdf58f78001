import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { hasCode } from '../api/hub-error.ts';
import { sessionQuery, signInLinkQuery } from '../api/session-queries.ts';
import { buttonClasses } from '../parts/form/button.tsx';
import { CardPage } from '../parts/page/card-page.tsx';
import { useLinkToken } from '../parts/page/link-token.ts';
import { usePageTitle } from '../parts/page/page-title.ts';
import { EndState } from '../parts/status/end-state.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import { Loading } from '../parts/status/loading.tsx';

/**
 * The page of the link that `signalbox up` prints: signs in and opens the console. A link that was
 * used opens the console too in a browser that is signed in.
 */
export function SignInLinkPage() {
  usePageTitle('Sign in');
  const client = useQueryClient();
  const router = useRouter();
  const linkToken = useLinkToken();
  const { data, error } = useQuery(signInLinkQuery(linkToken));
  const session = useQuery(sessionQuery());
  const isUsed = hasCode(error, 'SIGN_IN_LINK_INVALID');
  const isSignedIn = data !== undefined || (isUsed && session.data?.person != null);
  useEffect(() => {
    if (!isSignedIn) return;
    if (data !== undefined) client.setQueryData(sessionQuery().queryKey, data);
    void router.navigate({ to: '/', replace: true });
  }, [isSignedIn, data, client, router]);
  if (linkToken === '' || (isUsed && session.data?.person === null)) return <LinkEnd />;
  return (
    <CardPage>
      {error && !isUsed ? <ErrorNotice error={error} /> : <Loading what="the console" />}
    </CardPage>
  );
}

function LinkEnd() {
  return (
    <CardPage>
      <EndState icon="ban" tone="attention" title="This link is not valid">
        <p>
          It works once, and for an hour. For a new one, run{' '}
          <code className="font-mono text-xs">signalbox up</code> again on the machine of this hub.
        </p>
        <p>
          <Link to="/sign-in" className={buttonClasses('plain')}>
            Go to sign-in
          </Link>
        </p>
      </EndState>
    </CardPage>
  );
}

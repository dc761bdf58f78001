import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The token of the one-time link that opened this entry of the history. */
    linkToken?: string;
  }
}

/**
 * Reads the token of a one-time link from the fragment, which browsers do not send to servers, and
 * removes it from the address bar, since people copy, bookmark and share addresses. The history
 * entry keeps the token, so that the page can be reloaded. Returns '' if the link has no token.
 */
export function useLinkToken(): string {
  const navigate = useNavigate();
  const { hash, state } = useLocation({
    select: (location) => ({ hash: location.hash, state: location.state }),
  });
  const fromAddress = new URLSearchParams(hash).get('token');
  useEffect(() => {
    if (fromAddress === null) return;
    void navigate({ to: '.', hash: '', replace: true, state: { linkToken: fromAddress } });
  }, [fromAddress, navigate]);
  // While the next page loads, this one is drawn at the address of the next, which has no token.
  const token = fromAddress ?? state.linkToken;
  const [known, setKnown] = useState(token ?? '');
  if (token !== undefined && token !== known) setKnown(token);
  return token ?? known;
}

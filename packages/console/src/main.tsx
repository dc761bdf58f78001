import './styles.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/query-client.ts';
import { sessionQuery, signedOut } from './api/session-queries.ts';
import { readyWorker } from './push/this-device.ts';
import { createConsoleRouter } from './router.tsx';

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no element with the id root');

const client = createQueryClient(() => {
  client.setQueryData(sessionQuery().queryKey, signedOut);
  // The route guards redirect to sign-in, and back afterwards.
  void router.invalidate();
});
const router = createConsoleRouter(client);

// An app on a phone opens without the hub too, and says that it is out of reach.
if (window.matchMedia('(display-mode: standalone)').matches && 'serviceWorker' in navigator) {
  void readyWorker();
}

createRoot(root).render(
  <StrictMode>
    {/* The content security policy forbids style elements; their content is in styles.css. */}
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);

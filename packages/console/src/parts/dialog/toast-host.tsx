import { lazy, Suspense, useSyncExternalStore } from 'react';
import { hasToasts, onToast } from './toast.ts';

const Toaster = lazy(async () => ({ default: (await import('./toaster.tsx')).Toaster }));

/** The place of messages in the shell. Their code is loaded with the first message. */
export function ToastHost() {
  const isNeeded = useSyncExternalStore(onToast, hasToasts);
  if (!isNeeded) return null;
  return (
    <Suspense fallback={null}>
      <Toaster />
    </Suspense>
  );
}

/** Shown while data is loading; `what` completes the sentence "Loading …". */
export function Loading({ what }: { what: string }) {
  return (
    <p role="status" className="animate-pulse py-10 text-center text-sm text-muted">
      Loading {what} …
    </p>
  );
}

/** Shown while something is read; `what` completes the sentence "Reading …". */
export function Loading({ what }: { what: string }) {
  return (
    <p role="status" className="animate-pulse py-10 text-center text-sm text-muted">
      Reading {what} …
    </p>
  );
}

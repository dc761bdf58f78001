interface GuideLinkProps {
  to: `/docs/${string}`;
  words?: string;
}

/** A link to the documentation that the hub serves, where the question arises. */
export function GuideLink({ to, words = 'How this works' }: GuideLinkProps) {
  return (
    <a
      href={to}
      className="inline-flex min-h-6 items-center text-sm text-accent underline-offset-2 hover:underline pointer-coarse:min-h-11"
    >
      {words}
    </a>
  );
}

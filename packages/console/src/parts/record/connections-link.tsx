import { Link } from '@tanstack/react-router';

/** A link, within a sentence, to the page on which systems get their secrets. */
export function ConnectionsLink({ slug }: { slug: string }) {
  return (
    <Link
      to="/w/$slug/settings/connections"
      params={{ slug }}
      className="text-accent underline underline-offset-2"
    >
      Connections
    </Link>
  );
}

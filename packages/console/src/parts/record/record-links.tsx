import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { runRecordQuery } from '../../api/fleet-queries.ts';
import { titleOfRun } from '../../format/run-words.ts';

/** Classes of a link to another record, within facts and lines of text. */
const recordLinkClasses = 'max-w-full text-accent underline underline-offset-2 pointer-coarse:py-3';

interface RecordLinkProps {
  slug: string;
  /** The name of the record, without control characters. */
  name: string;
}

export function RepositoryLink({ slug, name, repoId }: RecordLinkProps & { repoId: string }) {
  return (
    <Link
      to="/w/$slug/repositories/$repoId"
      params={{ slug, repoId }}
      className={recordLinkClasses}
    >
      {name}
    </Link>
  );
}

export function JobLink({ slug, name, jobId }: RecordLinkProps & { jobId: string }) {
  return (
    <Link to="/w/$slug/jobs/$jobId" params={{ slug, jobId }} className={recordLinkClasses}>
      {name}
    </Link>
  );
}

export function AgentLink({ slug, name, agentId }: RecordLinkProps & { agentId: string }) {
  return (
    <Link to="/w/$slug/agents/$agentId" params={{ slug, agentId }} className={recordLinkClasses}>
      {name}
    </Link>
  );
}

interface RunLinkProps {
  workspaceId: string;
  slug: string;
  runId: string;
}

/** A link to a run by its title, which is read; by its id if it cannot be read. */
export function RunLink({ workspaceId, slug, runId }: RunLinkProps) {
  const { data, isPending } = useQuery(runRecordQuery(workspaceId, runId));
  // An id in its place would move what follows.
  if (isPending) return null;
  return (
    <Link to="/w/$slug/runs/$runId" params={{ slug, runId }} className={recordLinkClasses}>
      {data === undefined ? runId : titleOfRun(data.run)}
    </Link>
  );
}

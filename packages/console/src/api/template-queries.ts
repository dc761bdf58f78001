import { queryOptions } from '@tanstack/react-query';
import { callHub } from './hub-call.ts';

/** The templates of a workspace, by name. */
export function templatesQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['job-templates', workspaceId],
    queryFn: ({ signal }) => callHub('jobTemplates', 'list', { workspaceId }, signal),
  });
}

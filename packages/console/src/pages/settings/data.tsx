import { getRouteApi } from '@tanstack/react-router';
import { usePageTitle } from '../../parts/page/page-title.ts';
import { UrlTabs } from '../../parts/page/tabs.tsx';
import { ContextItems } from '../../parts/settings/context-items.tsx';
import { Uploads } from '../../parts/settings/uploads.tsx';

const workspace = getRouteApi('/w/$slug');
const route = getRouteApi('/w/$slug/settings/data');

/** What the workspace stores besides its jobs: context items, and the files of uploads. */
export function DataPage() {
  const { membership } = workspace.useRouteContext();
  const { tab = 'context' } = route.useSearch();
  usePageTitle(`Data · ${membership.name}`);
  return (
    <UrlTabs
      label="Data"
      tabs={[
        { name: 'context', word: 'Context' },
        { name: 'uploads', word: 'Uploads' },
      ]}
      current={tab}
    >
      {tab === 'context' ? <ContextItems /> : <Uploads />}
    </UrlTabs>
  );
}

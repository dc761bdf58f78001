import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import {
  type ContextItemSummary,
  contextItemQuery,
  contextItemsQuery,
} from '../../api/data-queries.ts';
import { callHub } from '../../api/hub-call.ts';
import { commandName } from '../../format/command-name.ts';
import { contextKindWords, trustWords } from '../../format/context-words.ts';
import { firstLine, plainText } from '../../format/text.ts';
import { showToast } from '../dialog/toast.ts';
import { viewerReason } from '../form/action-button.tsx';
import { Button } from '../form/button.tsx';
import { ConfirmButton } from '../form/confirm-button.tsx';
import { inputClasses } from '../form/field.tsx';
import { MoreButton } from '../page/page-parts.tsx';
import { ScrollBox } from '../page/scroll-box.tsx';
import { EmptyState } from '../status/empty-state.tsx';
import { ReadFailure } from '../status/read-failure.tsx';
import { SkeletonRows } from '../status/skeleton.tsx';
import { RelativeTime } from '../text/relative-time.tsx';
import { Mark, Records, Section } from './section.tsx';

const workspace = getRouteApi('/w/$slug');
const route = getRouteApi('/w/$slug/settings/data');

const QUERY_CHARS_MAX = 1_000;
const TITLE_CHARS_MAX = 120;
/** Drawing more would hold up the page; the command shows all. */
const TEXT_CHARS_MAX = 100_000;

/** Lists and searches the context items of the workspace. */
export function ContextItems() {
  const { membership } = workspace.useRouteContext();
  const { text = '' } = route.useSearch();
  const list = useInfiniteQuery(contextItemsQuery(membership.workspaceId, text));
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  const isEmpty = list.data !== undefined && items.length === 0;
  return (
    <Section
      title="Context"
      description="What agents should know: the hub gathers the items that matter for a run into its context pack."
    >
      {(text !== '' || !isEmpty) && <SearchForm key={text} text={text} />}
      {list.isPending && <SkeletonRows what="the context" rows={6} />}
      <ReadFailure read={list} />
      {isEmpty && (text === '' ? <NoContext /> : <NoMatch />)}
      {items.length > 0 && (
        <ol
          aria-label="Context items"
          className="divide-y overflow-hidden rounded-lg border bg-surface"
        >
          {items.map((item) => (
            <ItemRow key={item.itemId} item={item} />
          ))}
        </ol>
      )}
      <MoreButton list={list}>Show more items</MoreButton>
    </Section>
  );
}

function NoContext() {
  return (
    <EmptyState
      icon="file-text"
      title="No context yet"
      guide="/docs/guides/context"
      command={`${commandName()} context add 'Endpoints reveal no versions' --kind decision`}
    >
      Notes, decisions and documents that agents should know go into the context packs of runs. Add
      them in a terminal; messages, events and the texts of uploads are added by the hub.
    </EmptyState>
  );
}

function NoMatch() {
  return (
    <EmptyState icon="search" title="No item matches">
      Nothing in the context has these words. Clear the search to see all items.
    </EmptyState>
  );
}

/** The search is part of the URL; an empty one shows all items. */
function SearchForm({ text }: { text: string }) {
  const navigate = route.useNavigate();
  const search = (wanted: string) => void navigate({ search: wanted ? { text: wanted } : {} });
  return (
    <search>
      <form
        className="flex items-center gap-2 sm:max-w-md"
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = new FormData(event.currentTarget).get('text');
          search(typeof wanted === 'string' ? wanted.trim() : '');
        }}
      >
        <input
          type="search"
          name="text"
          aria-label="Search the context"
          placeholder="Search the context"
          maxLength={QUERY_CHARS_MAX}
          defaultValue={text}
          className={inputClasses}
        />
        <Button type="submit">Search</Button>
        {text !== '' && <Button onClick={() => search('')}>Clear</Button>}
      </form>
    </search>
  );
}

function titleOf({ title, excerpt }: ContextItemSummary): string {
  return firstLine(title, TITLE_CHARS_MAX) || firstLine(excerpt, TITLE_CHARS_MAX);
}

/** A row that unfolds to the text of the item. */
function ItemRow({ item }: { item: ContextItemSummary }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="grid min-h-row cursor-pointer grid-cols-[minmax(0,1fr)_auto] items-baseline gap-x-4 px-3 py-2 hover:bg-hover sm:px-4 pointer-coarse:min-h-11">
          <span className="min-w-0 wrap-anywhere">
            <span className="font-medium">{titleOf(item)}</span>{' '}
            {item.pinned && <Mark>pinned</Mark>}
            <span className="block text-xs text-muted">
              {plainText(`${contextKindWords[item.kind]} from ${item.source}`)}
            </span>
            {item.title !== '' && (
              <span className="line-clamp-2 text-xs text-muted">{plainText(item.excerpt)}</span>
            )}
          </span>
          <RelativeTime at={item.occurredAt} className="text-xs text-muted" />
        </summary>
        {isOpen && <ItemDetails item={item} />}
      </details>
    </li>
  );
}

function ItemDetails({ item }: { item: ContextItemSummary }) {
  const { membership } = workspace.useRouteContext();
  const query = useQuery(contextItemQuery(membership.workspaceId, item.itemId));
  const { sourceRef, threadRef, trust, kind } = item;
  return (
    <div className="grid gap-3 border-t px-3 py-3 text-sm sm:px-4">
      <ul aria-label="Source" className="grid gap-1 text-xs text-muted wrap-anywhere">
        <li>Trust: {trustWords[trust]}</li>
        {sourceRef !== null && <li>Name at the source: {plainText(sourceRef)}</li>}
        {threadRef !== null && <li>Conversation: {plainText(threadRef)}</li>}
      </ul>
      <Records what="the item" query={query}>
        {({ item: { text } }) => (
          <>
            <ScrollBox className="max-h-[60dvh] rounded-md bg-well p-2 font-mono text-xs">
              {plainText(text.slice(0, TEXT_CHARS_MAX))}
            </ScrollBox>
            {text.length > TEXT_CHARS_MAX && (
              <p className="text-xs text-muted">
                Only the beginning is shown. All of it:{' '}
                <code>{`${commandName()} context show ${item.itemId}`}</code>
              </p>
            )}
          </>
        )}
      </Records>
      {kind === 'upload_extract' ? (
        <p className="text-xs text-muted">It is removed when its upload is deleted.</p>
      ) : (
        <RemoveButton item={item} />
      )}
    </div>
  );
}

function RemoveButton({ item }: { item: ContextItemSummary }) {
  const { membership } = workspace.useRouteContext();
  const client = useQueryClient();
  const { workspaceId, role } = membership;
  const { itemId } = item;
  const title = titleOf(item);
  const remove = async () => {
    await callHub('contextItems', 'remove', { workspaceId, itemId });
    await client.invalidateQueries({ queryKey: ['context-items', workspaceId, 'pages'] });
    showToast({ title: 'The item is removed' });
  };
  return (
    <div>
      <ConfirmButton
        label="Remove"
        of={title}
        title={`Remove “${title}”?`}
        disabledReason={viewerReason(role)}
        onConfirm={remove}
      >
        It is deleted here and in every context pack. Agents that read it keep what they learned.
      </ConfirmButton>
    </div>
  );
}

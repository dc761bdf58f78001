import type { LogFilter } from '../format/log-filter.ts';
import { useKeys } from '../keys/use-keys.ts';
import type { LogSearch } from './use-log-search.ts';

interface LogKeys {
  search: LogSearch;
  isLive: boolean;
  only: LogFilter | undefined;
  onOnly: (only: LogFilter | undefined) => void;
  toSearch: () => void;
  onTimes: () => void;
  onFollow: () => void;
}

/** The keys of a log. A filter's key pressed again shows everything. */
export function useLogKeys(log: LogKeys): void {
  const { search, isLive, only } = log;
  const group = 'Log';
  const toggle = (filter: LogFilter) => () => log.onOnly(only === filter ? undefined : filter);
  useKeys([
    { keys: '/', label: 'Search the log', group, act: log.toSearch },
    ...(only === undefined
      ? [
          { keys: 'n', label: 'Next match', group, act: search.toNext },
          { keys: 'N', label: 'Previous match', group, act: search.toPrevious },
        ]
      : []),
    { keys: 'c', label: 'Only tool calls, or everything', group, act: toggle('calls') },
    { keys: 'm', label: 'Only messages, or everything', group, act: toggle('messages') },
    { keys: 'w', label: 'Only errors and warnings, or everything', group, act: toggle('problems') },
    { keys: 't', label: 'Show or hide times', group, act: log.onTimes },
    ...(isLive ? [{ keys: 'f', label: 'Follow the log', group, act: log.onFollow }] : []),
  ]);
}

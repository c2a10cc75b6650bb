import { useInfiniteQuery } from '@tanstack/react-query';
import { type ApiFailure, call, withQuery } from '../../api/client';
import { useLive } from '../../api/live';
import type { Page, PastRequest } from '../../api/types';
import type { RequestSearch } from '../../shell/router';

const FIRST_ROWS = 100;
const MORE_ROWS = 500;
const FRESH_MS = 2000;

export interface RequestList extends Page<PastRequest> {
  readonly total: number;
  readonly is_more: boolean;
  readonly store_problem: string | null;
}

/** The path of the first page. */
export const requestPath = (search: RequestSearch) => withQuery('requests', { ...search, limit: FIRST_ROWS });

/**
 * The requests of the filters, page by page. While the reader is at the top, the first page is read again and again; further down
 * nothing moves.
 */
export function useRequestPages(search: RequestSearch, isTop: boolean) {
  const isLive = useLive(({ state }) => state === 'live');
  return useInfiniteQuery<RequestList, ApiFailure, { pages: RequestList[] }, readonly unknown[], string | null>({
    // Changes of resources do not change requests that have ended.
    queryKey: ['requests', requestPath(search)],
    queryFn: ({ pageParam, signal }) =>
      call<RequestList>(
        'GET',
        pageParam === null
          ? requestPath(search)
          : withQuery('requests', { ...search, limit: MORE_ROWS, cursor: pageParam }),
        { signal },
      ),
    initialPageParam: null,
    getNextPageParam: ({ next }) => next,
    placeholderData: (former) => former,
    refetchInterval: ({ state }) => (isLive && isTop && state.data?.pages.length === 1 ? FRESH_MS : false),
  });
}

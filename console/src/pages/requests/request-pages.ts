import { type InfiniteData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect } from 'react';
import { type ApiFailure, call, withQuery } from '../../api/client';
import { useLive } from '../../api/live';
import type { Page, PastRequest } from '../../api/types';
import type { RequestSearch } from '../../shell/router';

/** More than a window shows. */
const FIRST_ROWS = 100;
const MORE_ROWS = 500;
const FRESH_MS = 2000;

export interface RequestList extends Page<PastRequest> {
  readonly total: number;
  readonly is_more: boolean;
  readonly store_problem: string | null;
}

type Pages = InfiniteData<RequestList, string | null>;

/** The path of the first page. */
export const requestPath = (search: RequestSearch) => withQuery('requests', { ...search, limit: FIRST_ROWS });

/**
 * The requests of the filters, page by page. While the reader is at the top, the first page is read again and again; further down
 * nothing moves.
 */
export function useRequestPages(search: RequestSearch, isTop: boolean) {
  const client = useQueryClient();
  const state = useLive((snapshot) => snapshot.state);
  const path = requestPath(search);
  const query = useInfiniteQuery<RequestList, ApiFailure, Pages, readonly unknown[], string | null>({
    // Changes of resources do not change requests that have ended.
    queryKey: ['requests', path],
    queryFn: ({ pageParam, signal }) =>
      call<RequestList>(
        'GET',
        pageParam === null ? path : withQuery('requests', { ...search, limit: MORE_ROWS, cursor: pageParam }),
        { signal },
      ),
    initialPageParam: null,
    getNextPageParam: ({ next }) => next,
    placeholderData: (former) => former,
    refetchInterval: state === 'live' && isTop ? FRESH_MS : false,
  });
  const count = query.data?.pages.length ?? 0;
  const toFirstPage = useCallback(async () => {
    // A page that is on its way would be added.
    await client.cancelQueries({ queryKey: ['requests', path] });
    client.setQueryData<Pages>(['requests', path], (all) =>
      all === undefined ? all : { pages: all.pages.slice(0, 1), pageParams: all.pageParams.slice(0, 1) },
    );
  }, [client, path]);
  useEffect(() => {
    if (isTop && count > 1) void toFirstPage();
  }, [count, isTop, toFirstPage]);
  const readLatest = () => toFirstPage().then(() => query.refetch());
  return { ...query, readLatest, isStill: !isTop || state === 'paused' };
}

import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { Button, Card, PageHead } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { apiCall } from '../../parts/commands';
import { NothingSent } from '../../parts/first-request';
import { counted } from '../../parts/format';
import { Empty, Failure, Loading } from '../../parts/states';
import { ALL, RequestFilters } from './request-filters';
import { requestPath, useRequestPages } from './request-pages';
import { RequestTable } from './request-table';

const route = getRouteApi('/requests');

/** Requests that have ended, filtered and paged by the server. */
export function RequestsPage() {
  const search = route.useSearch();
  const [isTop, setTop] = useState(true);
  const [visit, setVisit] = useState(0);
  const followed = useRequestPages(search, isTop);
  const { data, error, fetchNextPage, hasNextPage, isFetchingNextPage, isStill, readLatest, refetch } = followed;
  const requests = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data]);
  const onEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [fetchNextPage, hasNextPage, isFetchingNextPage]);
  const showLatest = () => {
    // From the top again.
    setVisit(visit + 1);
    setTop(true);
    void readLatest();
  };
  const first = data?.pages[0];
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  const path = requestPath(search);
  return (
    <>
      <PageHead
        title="Requests"
        about="Those that have ended, the latest first: 10,000 in memory, earlier ones as long as the store keeps them. No text of any request is kept."
      />
      <RequestFilters />
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {first === undefined ? (
        error === null ? (
          <Loading />
        ) : null
      ) : (
        <Card
          title={`${counted(first)} ${first.total === 1 ? 'request' : 'requests'}`}
          actions={
            isStill ? (
              <>
                <span className="muted">{isTop ? 'Paused' : 'Stands still while you read'}</span>
                <Button onClick={showLatest}>Latest</Button>
              </>
            ) : null
          }
        >
          {first.store_problem === null ? null : (
            <p className="padded" role="status">
              Only those in memory: {first.store_problem}
            </p>
          )}
          {requests.length > 0 ? (
            <RequestTable
              key={`${path} ${visit}`}
              requests={requests}
              total={first.is_more ? -1 : first.total}
              onEnd={onEnd}
              onTop={setTop}
            />
          ) : isFiltered ? (
            <Empty title="No request fits">
              <Link to="/requests" search={ALL}>
                Show all
              </Link>
            </Empty>
          ) : (
            <NothingSent title="No request yet">Send one, and it appears here with its replica and times.</NothingSent>
          )}
        </Card>
      )}
      <AsCommand commands={['twinyard explain REQUEST_ID', apiCall(path)]} />
    </>
  );
}

import { getRouteApi, Link } from '@tanstack/react-router';
import { withQuery } from '../../api/client';
import { useGet } from '../../api/queries';
import type { Page, PastRequest } from '../../api/types';
import { Button, Card, PageHead } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { whole } from '../../parts/format';
import { Empty, Failure, Loading } from '../../parts/states';
import { RequestFilters } from './request-filters';
import { RequestTable } from './request-table';

const route = getRouteApi('/requests');
const PAGE_SIZE = 100;

type RequestList = Page<PastRequest> & { readonly total: number };

/** The last requests, filtered and paged by the server. */
export function RequestsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const isFirst = search.cursor === undefined;
  const path = withQuery('requests', { ...search, limit: PAGE_SIZE });
  // Only the first page moves: a page further back would slip away under the reader.
  const { data, error, refetch } = useGet<RequestList>(path, {
    keepsFormer: true,
    ...(isFirst ? { everyMs: 2000 } : {}),
  });
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <>
      <PageHead
        title="Requests"
        about="The last 10,000 that have ended, the latest first. No text of any request is kept."
      />
      <RequestFilters />
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : null
      ) : (
        <Card
          title={`${whole(data.total)} ${data.total === 1 ? 'request' : 'requests'}`}
          actions={
            <>
              {isFirst ? null : (
                <Link to="/requests" search={{ ...search, cursor: undefined }} className="button">
                  Latest
                </Link>
              )}
              <Button
                disabled={data.next === null}
                onClick={() => void navigate({ search: { ...search, cursor: data.next! } })}
              >
                Older
              </Button>
            </>
          }
        >
          {data.items.length > 0 ? (
            <RequestTable requests={data.items} />
          ) : isFiltered ? (
            <Empty title="No request fits">
              <Link to="/requests" search={{}}>
                Show all
              </Link>
            </Empty>
          ) : (
            <Empty title="No request yet" command={FIRST_REQUEST}>
              Send one, and it appears here with its replica and times.
            </Empty>
          )}
        </Card>
      )}
      <AsCommand
        commands={[
          'twinyard explain REQUEST_ID',
          `curl -H "authorization: Bearer $TOKEN" ${location.origin}/api/v1/${path}`,
        ]}
      />
    </>
  );
}

const FIRST_REQUEST =
  'curl http://127.0.0.1:8080/v1/chat/completions -d \'{"model": "MODEL", "messages": [{"role": "user", "content": "hello"}]}\'';

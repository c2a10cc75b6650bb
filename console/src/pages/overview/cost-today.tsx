import { withQuery } from '../../api/client';
import { useGet, useSession } from '../../api/queries';
import { dollars, whole } from '../../parts/format';
import { Stat } from '../../parts/stat';

interface Usage {
  readonly total: { readonly dollars: number; readonly requests: number };
}

/** What was used since midnight UTC, summed up by the server. */
export function CostToday({ workspace }: { readonly workspace: string | undefined }) {
  const { data: session } = useSession();
  const day = new Date().toISOString().slice(0, 10);
  const path = session?.has_store === true ? withQuery('usage', { by: 'total', from: day, to: day, workspace }) : null;
  const { data } = useGet<Usage>(path, { everyMs: 10_000 });
  if (data === undefined) return null;
  return (
    <Stat
      name="Cost today"
      value={dollars(data.total.dollars)}
      exact={data.total.dollars}
      note={`${whole(data.total.requests)} requests, UTC`}
    />
  );
}

import { getRouteApi, Link } from '@tanstack/react-router';
import { withQuery } from '../../api/client';
import { useGet, useSession } from '../../api/queries';
import type { Page, ResourceEvent } from '../../api/types';
import { Button, Card, PageHead } from '../../parts/basics';
import { type AuditEntry, ChangeTable, ofAudit, ofEvent } from '../../parts/change-table';
import { AsCommand } from '../../parts/command';
import { flag, quoted } from '../../parts/commands';
import type { Kind } from '../../parts/editor/use-kind-schema';
import { SearchField } from '../../parts/search-field';
import { Empty, Failure, Loading } from '../../parts/states';
import { useMayAudit } from '../../parts/use-may-audit';

const route = getRouteApi('/changes');
const PAGE_SIZE = 100;

/** All that happened to resources, and who changed them: filtered and paged by the server. */
export function ChangesPage() {
  const { actor, cursor, kind, name, of = 'events', workspace } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: session } = useSession();
  const mayAudit = useMayAudit(workspace);
  const isAudit = of === 'audit' && mayAudit;
  const { data: kinds } = useGet<Page<Kind>>('kinds', { isFixed: true });
  const query = { kind, name, workspace, limit: PAGE_SIZE, cursor };
  const path = isAudit ? withQuery('audit', { ...query, actor }) : withQuery('events', { ...query, former: true });
  const { data, error, refetch } = useGet<Page<ResourceEvent | AuditEntry>>(session?.has_store === true ? path : null, {
    keepsFormer: true,
  });
  if (session?.has_store !== true) {
    return (
      <>
        <PageHead title="All changes" />
        <Empty title="This gateway has no store" command="twinyard serve --store twinyard.db -c twinyard.yaml">
          Events and the audit log are kept in a store.
        </Empty>
      </>
    );
  }
  const isFiltered = [kind, name, actor].some((one) => one !== undefined);
  const changes = data?.items.map((one) => ('version' in one ? ofAudit(one) : ofEvent(one)));
  const filter = (change: Partial<ReturnType<typeof route.useSearch>>) =>
    void navigate({ search: (before) => ({ ...before, ...change, cursor: undefined }), replace: true });
  // Kinds that are no resources, such as the policy of an endpoint of the file, are in the audit log.
  const known = kinds?.items.map((one) => one.kind) ?? [];
  const isCommand = kind === undefined ? name === undefined : known.includes(kind);
  return (
    <>
      <PageHead
        title="All changes"
        about={`${isAudit ? 'Who changed what' : 'What became of resources'}, the latest first${workspace === undefined ? '' : `; only workspace ${workspace}`}`}
      />
      <nav className="tabs" aria-label="Events or changes">
        <Link to="/changes" search={{ kind, name }} className="tab" aria-current={isAudit ? undefined : 'page'}>
          Events
        </Link>
        {mayAudit ? (
          <Link
            to="/changes"
            search={{ kind, name, of: 'audit' }}
            className="tab"
            aria-current={isAudit ? 'page' : undefined}
          >
            Audit log
          </Link>
        ) : null}
      </nav>
      <div className="filters">
        <select
          aria-label="Kind"
          value={kind ?? ''}
          onChange={({ target }) => filter({ kind: target.value || undefined })}
        >
          <option value="">Any kind</option>
          {[...new Set([...known, ...(kind === undefined ? [] : [kind])])].map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <SearchField name="Name is" value={name ?? ''} onChange={(value) => filter({ name: value || undefined })} />
        {isAudit ? (
          <SearchField
            name="Changed by"
            value={actor ?? ''}
            onChange={(value) => filter({ actor: value || undefined })}
          />
        ) : null}
      </div>
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {changes === undefined ? (
        error === null ? (
          <Loading />
        ) : null
      ) : (
        <Card
          title={isAudit ? 'Audit log' : 'Events'}
          actions={
            <>
              {cursor === undefined ? null : <Button onClick={() => filter({})}>First</Button>}
              <Button
                disabled={data!.next === null}
                onClick={() => void navigate({ search: (before) => ({ ...before, cursor: data!.next ?? undefined }) })}
              >
                Next
              </Button>
            </>
          }
        >
          {changes.length === 0 && isFiltered ? (
            <Empty title="No change fits">
              <Link to="/changes" search={{}}>
                Show all
              </Link>
            </Empty>
          ) : (
            <ChangeTable changes={changes} hasActors={isAudit} />
          )}
        </Card>
      )}
      <AsCommand
        commands={isCommand ? [commandOf({ actor: isAudit ? actor : undefined, isAudit, kind, name, workspace })] : []}
        calls={[path]}
      />
    </>
  );
}

interface Asked {
  readonly isAudit: boolean;
  readonly kind: string | undefined;
  readonly name: string | undefined;
  readonly actor: string | undefined;
  readonly workspace: string | undefined;
}

function commandOf({ actor, isAudit, kind, name, workspace }: Asked): string {
  const named = name === undefined ? '' : `/${quoted(name)}`;
  const what = kind === undefined ? '' : ` ${kind.toLowerCase()}${named}`;
  const where = workspace === undefined ? ' -A' : flag('workspace', workspace);
  const former = name === undefined || isAudit ? '' : ' --former';
  return `twinyard events${what}${where}${isAudit ? ' --audit' : ''}${flag('actor', actor)}${former}`;
}

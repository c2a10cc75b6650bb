import { useState } from 'react';
import { useMay } from '../../api/access';
import { useLive } from '../../api/live';
import { useGet } from '../../api/queries';
import type { Page, Replica, Resource } from '../../api/types';
import { Card } from '../../parts/basics';
import { inWorkspace, quoted } from '../../parts/commands';
import { Failure, Loading } from '../../parts/states';
import { DrainDialog } from './actions/drain-dialog';
import { ReplicaTable } from './replica-table';

interface ReplicaTabProps {
  readonly workspace: string;
  readonly name: string;
  readonly base: string;
  readonly isOfFile: boolean;
}

export function ReplicaTab({ base, isOfFile, name, workspace }: ReplicaTabProps) {
  const listed = useGet<Page<Replica>>(`${base}/replicas?limit=1000`);
  const { data: resource } = useGet<Resource>(isOfFile ? null : base);
  const followed = useLive(({ replicas }) => replicas);
  const isLive = useLive(({ state }) => state === 'live');
  const mayChange = useMay('operator', workspace);
  const [drained, setDrained] = useState<string | null>(null);
  const own = [...followed.values()].filter((one) => one.endpoint === name && one.workspace === workspace);
  const replicas = isLive && own.length > 0 ? own : (listed.data?.items ?? own);
  if (listed.data === undefined && own.length === 0) {
    return listed.error === null ? <Loading /> : <Failure error={listed.error} onRetry={() => void listed.refetch()} />;
  }
  const observed = (resource?.status?.replicas ?? []) as readonly { readonly id: string; readonly leaving?: boolean }[];
  return (
    <Card title={`${replicas.length} ${replicas.length === 1 ? 'replica' : 'replicas'}`}>
      <ReplicaTable
        replicas={replicas}
        leaving={new Set(observed.filter(({ leaving }) => leaving === true).map(({ id }) => id))}
        onDrain={mayChange ? setDrained : null}
        first={isOfFile ? null : `twinyard scale ep/${quoted(name)} --replicas 1${inWorkspace(workspace)}`}
      />
      <DrainDialog
        base={base}
        name={name}
        workspace={workspace}
        replica={replicas.find(({ id }) => id === drained) ?? null}
        resource={resource ?? null}
        onClose={() => setDrained(null)}
      />
    </Card>
  );
}

import { useState } from 'react';
import { useMay } from '../../api/access';
import { pathOf } from '../../api/client';
import { useLive } from '../../api/live';
import { useChange, useGet } from '../../api/queries';
import type { Page, Replica } from '../../api/types';
import { Button, Card } from '../../parts/basics';
import { Dialog } from '../../parts/dialog';
import { Failure } from '../../parts/states';
import { ReplicaTable } from './replica-table';

interface ReplicaTabProps {
  readonly workspace: string;
  readonly name: string;
  readonly base: string;
  readonly isOfFile: boolean;
}

export function ReplicaTab({ base, isOfFile, name, workspace }: ReplicaTabProps) {
  const listed = useGet<Page<Replica>>(`${base}/replicas?limit=1000`);
  const followed = useLive(({ replicas }) => replicas);
  const isLive = useLive(({ state }) => state === 'live');
  const mayChange = useMay('operator', workspace);
  const [leaving, setLeaving] = useState<string | null>(null);
  const own = [...followed.values()].filter((one) => one.endpoint === name && one.workspace === workspace);
  const replicas = isLive && own.length > 0 ? own : (listed.data?.items ?? own);
  return (
    <Card title={`${replicas.length} ${replicas.length === 1 ? 'replica' : 'replicas'}`}>
      <ReplicaTable replicas={replicas} onDrain={isOfFile && mayChange ? setLeaving : null} />
      <DrainDialog base={base} replica={leaving} onClose={() => setLeaving(null)} />
    </Card>
  );
}

function DrainDialog({ base, onClose, replica }: { base: string; replica: string | null; onClose: () => void }) {
  const change = useChange();
  const drain = () =>
    change.mutate({ method: 'DELETE', path: `${base}/replicas/${pathOf(replica ?? '')}` }, { onSuccess: onClose });
  return (
    <Dialog title={`Drain ${replica ?? ''}`} isOpen={replica !== null} onClose={onClose}>
      <p>It gets no new requests, and leaves the endpoint when its last one has ended. The engine keeps running.</p>
      {change.error === null ? null : <Failure error={change.error} />}
      <div className="dialog-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" onClick={drain} disabled={change.isPending}>
          Drain
        </Button>
      </div>
    </Dialog>
  );
}

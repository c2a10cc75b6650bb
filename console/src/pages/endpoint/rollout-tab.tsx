import { useMay } from '../../api/access';
import { useGet } from '../../api/queries';
import type { Resource } from '../../api/types';
import { Badge, Bar, Card, NumberHead, TablePlace } from '../../parts/basics';
import { Conditions } from '../../parts/conditions';
import { Phase } from '../../parts/phase';
import { Revisions } from '../../parts/revisions';
import { Failure, Loading } from '../../parts/states';

interface ObservedReplica {
  readonly id: string;
  readonly phase: string;
  readonly generation: number;
  readonly restarts: number;
  readonly message: string;
}

/** How far the replicas have the present spec, step by step, and the revisions to go back to. */
export function RolloutTab({ base, workspace }: { readonly workspace: string; readonly base: string }) {
  const { data, error, refetch } = useGet<Resource>(base, { everyMs: 2000 });
  const mayChange = useMay('operator', workspace);
  if (data === undefined) {
    return error === null ? <Loading /> : <Failure error={error} onRetry={() => void refetch()} />;
  }
  return (
    <>
      <Progress endpoint={data} />
      <Conditions conditions={data.status?.conditions ?? []} />
      <Revisions base={base} resource={data} mayChange={mayChange} />
    </>
  );
}

function Progress({ endpoint: { metadata, spec, status } }: { readonly endpoint: Resource }) {
  const generation = metadata.generation ?? 0;
  const wanted = Number(spec.replicas ?? 1);
  const replicas = (status?.replicas ?? []) as readonly ObservedReplica[];
  // A change that needs no other process, such as one of the policy, leaves the replicas as they were started.
  const isUpdated = status?.conditions?.some((one) => one.type === 'Updated' && one.status) ?? false;
  const updated = replicas.filter((one) => isUpdated || one.generation === generation).length;
  const ready = Number(status?.ready ?? 0);
  const isObserved = (status?.observed_generation ?? 0) >= generation;
  const {
    max_surge = 1,
    max_unavailable = 0,
    startup_timeout_s = 1800,
  } = (spec.deployment ?? {}) as Record<string, number>;
  const download = status?.download as { readonly bytes: number; readonly total: number } | undefined;
  const lines = (status?.last_lines ?? []) as readonly string[];
  const steps: readonly [string, number][] = [
    ['updated', updated],
    ['ready', ready],
  ];
  return (
    <Card title={`Rollout of revision ${generation}`}>
      <dl className="facts">
        <dt>State</dt>
        <dd>
          <Phase phase={status?.phase} /> {status?.message}
        </dd>
        <dt>Progress</dt>
        <dd>
          {isObserved ? (
            <ul className="plain capacity">
              {steps.map(([name, count]) => (
                <li key={name}>
                  <Bar share={wanted === 0 ? 1 : count / wanted} tone={count >= wanted ? 'good' : 'warn'} /> {count} of{' '}
                  {wanted} replicas {name}
                </li>
              ))}
            </ul>
          ) : (
            'waiting for the control plane'
          )}
        </dd>
        {download === undefined ? null : (
          <>
            <dt>Download</dt>
            <dd>
              <Bar share={download.bytes / Math.max(1, download.total)} /> {(download.bytes / 2 ** 30).toFixed(2)} of{' '}
              {(download.total / 2 ** 30).toFixed(2)} GiB
            </dd>
          </>
        )}
        <dt>Steps</dt>
        <dd>
          at most {max_surge} above and {max_unavailable} below the number at a time; a replica that is not ready after{' '}
          {startup_timeout_s} s has failed
        </dd>
      </dl>
      {replicas.length === 0 ? null : <ReplicaSteps replicas={replicas} generation={isUpdated ? null : generation} />}
      {lines.length === 0 ? null : (
        <>
          <p className="padded">Last lines of the replica that failed:</p>
          <pre className="block">{lines.join('\n')}</pre>
        </>
      )}
    </Card>
  );
}

function ReplicaSteps({
  generation,
  replicas,
}: {
  readonly replicas: readonly ObservedReplica[];
  /** That they should have; null when all of them are up to date. */
  readonly generation: number | null;
}) {
  return (
    <TablePlace name="Replicas of the rollout">
      <table className="table table-dense">
        <thead>
          <tr>
            <th scope="col">Replica</th>
            <th scope="col">State</th>
            <th scope="col">Started for revision</th>
            <NumberHead>Restarts</NumberHead>
            <th scope="col">Message</th>
          </tr>
        </thead>
        <tbody>
          {replicas.map((one) => (
            <tr key={one.id}>
              <td>{one.id}</td>
              <td>{one.phase}</td>
              <td>
                {one.generation} {one.generation === generation ? null : <Badge tone="warn">before this one</Badge>}
              </td>
              <td className="number">{one.restarts}</td>
              <td>{one.message}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TablePlace>
  );
}

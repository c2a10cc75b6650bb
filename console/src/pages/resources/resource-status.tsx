import { stringify } from 'yaml';
import type { Resource } from '../../api/types';
import { Bar, Card, NumberHead, TablePlace } from '../../parts/basics';
import { Conditions } from '../../parts/conditions';
import { Phase } from '../../parts/phase';
import { Time } from '../../parts/time';
import { Capacity } from './capacity';

/** What was observed of a resource. */
export function ResourceStatus({ resource }: { readonly resource: Resource }) {
  const { kind, metadata, spec, status } = resource;
  const labels = Object.entries(metadata.labels ?? {});
  return (
    <>
      <Card title="Status">
        <dl className="facts">
          <dt>State</dt>
          <dd>
            <Phase phase={status?.phase} /> {status?.message}
          </dd>
          {kind === 'Cluster' ? (
            <>
              <dt>Free</dt>
              <dd>
                <Capacity cluster={resource} />
              </dd>
            </>
          ) : null}
          {metadata.deleted_at === undefined ? null : (
            <>
              <dt>Deleted</dt>
              <dd>
                <Time at={metadata.deleted_at} />; it is listed until what it stands for has been taken down
              </dd>
            </>
          )}
          <dt>Created</dt>
          <dd>{metadata.created_at === undefined ? '–' : <Time at={metadata.created_at} />}</dd>
          <dt>Changed</dt>
          <dd>{metadata.updated_at === undefined ? '–' : <Time at={metadata.updated_at} />}</dd>
          <dt>Revision</dt>
          <dd>
            {metadata.generation}
            {(status?.observed_generation ?? 0) < (metadata.generation ?? 0) && status !== undefined
              ? `, observed ${status.observed_generation}`
              : ''}
          </dd>
          <dt>Labels</dt>
          <dd>{labels.length === 0 ? 'none' : labels.map(([key, value]) => `${key}=${value}`).join(', ')}</dd>
          <dt>Id</dt>
          <dd>
            <code>{metadata.uid}</code>
          </dd>
        </dl>
      </Card>
      {kind === 'Cluster' ? <Accelerators status={status} /> : null}
      <Conditions conditions={status?.conditions ?? []} />
      <Card title="Desired state">
        <pre className="block block-top">{stringify(spec, { lineWidth: 0 })}</pre>
      </Card>
    </>
  );
}

interface Accelerator {
  readonly id: string;
  readonly product: string;
  readonly memory_mib: number | null;
  readonly free: number;
}

/** The accelerators of a cluster, each with its free share. */
function Accelerators({ status }: { readonly status: Resource['status'] }) {
  const all = (status?.accelerators ?? []) as readonly Accelerator[];
  const problems = (status?.problems ?? []) as readonly string[];
  return (
    <Card title={`${all.length} ${all.length === 1 ? 'accelerator' : 'accelerators'}`}>
      {problems.map((one) => (
        <p key={one} className="log-note">
          {one}
        </p>
      ))}
      {all.length === 0 ? (
        <p className="padded muted">None was found: replicas run on CPUs here.</p>
      ) : (
        <TablePlace name="Accelerators">
          <table className="table table-dense">
            <thead>
              <tr>
                <th scope="col">Accelerator</th>
                <th scope="col">Product</th>
                <NumberHead>Memory</NumberHead>
                <NumberHead>Free</NumberHead>
              </tr>
            </thead>
            <tbody>
              {all.map((one) => (
                <tr key={one.id}>
                  <td>{one.id}</td>
                  <td>{one.product}</td>
                  <td className="number">
                    {one.memory_mib === null ? '–' : `${(one.memory_mib / 1024).toFixed(0)} GiB`}
                  </td>
                  <td className="number">
                    <span className="measure">
                      <Bar share={1 - one.free} />
                      {Math.round(100 * one.free)} %
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </TablePlace>
      )}
    </Card>
  );
}

import { Link } from '@tanstack/react-router';
import type { Resource } from '../../api/types';
import { TablePlace } from '../../parts/basics';
import type { Kind } from '../../parts/editor/use-kind-schema';
import { Phase } from '../../parts/phase';
import { Time } from '../../parts/time';
import { Capacity } from './capacity';

export function ResourceTable({ kind, resources }: { readonly resources: readonly Resource[]; readonly kind: Kind }) {
  return (
    <TablePlace name={kind.kind}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State</th>
            <th scope="col">{kind.kind === 'Cluster' ? 'Free' : 'About'}</th>
            <th scope="col">Created</th>
          </tr>
        </thead>
        <tbody>
          {resources.map((one) => (
            <tr key={one.metadata.uid ?? one.metadata.name}>
              <td>
                <ResourceLink resource={one} plural={kind.plural} />
              </td>
              <td>
                <Phase phase={one.status?.phase} />
              </td>
              <td>{kind.kind === 'Cluster' ? <Capacity cluster={one} /> : aboutOf(one)}</td>
              <td className="mono nowrap">
                {one.metadata.created_at === undefined ? '–' : <Time at={one.metadata.created_at} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TablePlace>
  );
}

/** An endpoint that is served has a page of its own. */
function ResourceLink({
  plural,
  resource: { kind, metadata },
}: {
  readonly resource: Resource;
  readonly plural: string;
}) {
  const { name, workspace } = metadata;
  const shown = (
    <>
      {workspace === undefined ? null : <span className="muted">{workspace}/</span>}
      {name}
    </>
  );
  return kind === 'Endpoint' && workspace !== undefined ? (
    <Link to="/endpoints/$workspace/$name" params={{ workspace, name }}>
      {shown}
    </Link>
  ) : (
    <Link to="/resources/$kind/$name" params={{ kind: plural, name }} search={{ workspace }}>
      {shown}
    </Link>
  );
}

/** What is most worth knowing of a resource, in a line. */
function aboutOf({ kind, spec, status }: Resource): string {
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  if (text(status?.message) !== '') return text(status?.message);
  switch (kind) {
    case 'Engine':
      return `${Object.keys((spec.versions ?? {}) as object).join(', ')}${spec.description ? `: ${text(spec.description)}` : ''}`;
    case 'Role':
      return `${text(spec.role)}: ${((spec.api_keys ?? []) as readonly string[]).join(', ')}`;
    case 'ExternalEndpoint':
      return ((spec.upstreams ?? []) as readonly { readonly url?: string }[]).map(({ url }) => text(url)).join(', ');
    case 'ModelRegistry':
      return [text(spec.type), text(spec.url)].filter((one) => one !== '').join(' ');
    case 'Endpoint':
      return text((spec.model as { readonly name?: string } | undefined)?.name);
    default:
      return text(spec.description);
  }
}

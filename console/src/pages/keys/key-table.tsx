import { Link } from '@tanstack/react-router';
import { useMay } from '../../api/access';
import { Card, TablePlace } from '../../parts/basics';
import { counted } from '../../parts/format';
import { Phase } from '../../parts/phase';
import { Empty } from '../../parts/states';
import { Time } from '../../parts/time';
import { KeyActions } from './key-actions';
import { type KeyList, type KeyResource, limitName } from './key-list';

interface KeyTableProps {
  readonly keys: KeyList;
  readonly isFiltered: boolean;
  /** Whether they are of several workspaces. */
  readonly isOfAll: boolean;
  /** Whether this is the first page. */
  readonly isFirst: boolean;
}

export function KeyTable({ isFiltered, isFirst, isOfAll, keys }: KeyTableProps) {
  return (
    <Card
      title={
        <>
          API keys <span className="muted">{counted(keys)}</span>
        </>
      }
      actions={
        <>
          {isFirst ? null : (
            <Link from="/keys" to="/keys" search={(before) => ({ ...before, cursor: undefined })} className="button">
              First
            </Link>
          )}
          {keys.next === null ? null : (
            <Link from="/keys" to="/keys" search={(before) => ({ ...before, cursor: keys.next! })} className="button">
              Next
            </Link>
          )}
        </>
      }
    >
      {keys.items.length === 0 ? (
        isFiltered ? (
          <Empty title="No API key fits">
            <Link to="/keys" search={{}}>
              Show all
            </Link>
          </Empty>
        ) : (
          <Empty title="No API key yet" command="twinyard keys create --name alice">
            A key says which models a client may use, and how much.
          </Empty>
        )
      ) : (
        <TablePlace name="API keys">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Name</th>
                {isOfAll ? <th scope="col">Workspace</th> : null}
                <th scope="col">State</th>
                <th scope="col">Role</th>
                <th scope="col">Secret</th>
                <th scope="col">Models</th>
                <th scope="col">Limits</th>
                <th scope="col">Expires</th>
                <th scope="col">
                  <span className="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {keys.items.map((one) => (
                <Row key={one.metadata.uid} one={one} isOfAll={isOfAll} />
              ))}
            </tbody>
          </table>
        </TablePlace>
      )}
    </Card>
  );
}

function Row({ isOfAll, one }: { readonly one: KeyResource; readonly isOfAll: boolean }) {
  const { metadata, spec, status } = one;
  const { name, uid, workspace = 'default' } = metadata;
  const mayChange = useMay('admin', workspace);
  const hint = status?.hint;
  return (
    <tr>
      <td>
        <Link to="/keys/$name" params={{ name }} search={{ workspace }}>
          {name}
        </Link>
      </td>
      {isOfAll ? <td>{workspace}</td> : null}
      <td>
        <Phase phase={status?.phase ?? 'Pending'} />
      </td>
      <td>{spec.role ?? 'none'}</td>
      <td className="mono">{typeof hint === 'string' ? `…${hint}` : <span className="muted">none yet</span>}</td>
      <td className="cut">{spec.models?.join(', ') ?? <span className="muted">all</span>}</td>
      <td>{limitsOf(spec)}</td>
      <td>{spec.expires_at === undefined ? <span className="muted">never</span> : <Time at={spec.expires_at} />}</td>
      <td className="number">
        <Link to="/keys" search={{ workspace, tab: 'usage', key: uid }} aria-label={`Usage of ${name}`}>
          Usage
        </Link>{' '}
        {mayChange && status?.phase !== 'Revoked' ? <KeyActions name={name} workspace={workspace} /> : null}
      </td>
    </tr>
  );
}

function limitsOf({ limits = {} }: KeyResource['spec']) {
  const all = Object.entries(limits).flatMap(([model, own]) =>
    Object.entries(own).map(([name, value]) => `${model === '*' ? '' : `${model}: `}${limitName(name)} ${value}`),
  );
  return all.length === 0 ? <span className="muted">none</span> : all.join(', ');
}

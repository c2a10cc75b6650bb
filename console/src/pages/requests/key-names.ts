import { call, withQuery } from '../../api/client';
import { useGet, useSession } from '../../api/queries';
import type { Page, Resource } from '../../api/types';

type Keys = Page<Pick<Resource, 'metadata'>>;

export interface NamedKey {
  readonly uid: string;
  readonly name: string;
  readonly workspace: string;
}

const FIELDS = 'metadata.name,metadata.workspace,metadata.uid';
/** More names are of no help in a list of suggestions. */
const MOST = 100;

/** The name of the key of an id; undefined while it is read, and for a key that is not there any more. */
export function useKeyName(uid: string | undefined): NamedKey | undefined {
  const { data: session } = useSession();
  const isKept = uid !== undefined && session?.has_store === true;
  const { data } = useGet<Keys>(isKept ? withQuery('apikeys', { uid, fields: FIELDS }) : null, { isFixed: true });
  return data === undefined ? undefined : namedKeys(data)[0];
}

/** Keys to suggest. */
export function useKeys(workspace: string | undefined): readonly NamedKey[] {
  const { data: session } = useSession();
  const { data } = useGet<Keys>(session?.has_store === true ? keysPath(workspace, { limit: MOST }) : null);
  return data === undefined ? [] : namedKeys(data);
}

/** The id of a key by its name, or by `workspace/name`; what is not the name of a key is an id. */
export async function keyIdOf(called: string, workspace: string | undefined): Promise<string> {
  const [name, place] = called.split('/').reverse() as [string, string | undefined];
  const found = await call<Keys>('GET', keysPath(place ?? workspace, { search: name, limit: 1000 }));
  return namedKeys(found).find((one) => one.name === name)?.uid ?? called;
}

const keysPath = (workspace: string | undefined, query: { readonly search?: string; readonly limit: number }) =>
  withQuery(workspace === undefined ? 'apikeys' : `workspaces/${encodeURIComponent(workspace)}/apikeys`, {
    ...query,
    fields: FIELDS,
  });

const namedKeys = ({ items }: Keys): NamedKey[] =>
  items.map(({ metadata: { name, uid = '', workspace = 'default' } }) => ({ uid, name, workspace }));

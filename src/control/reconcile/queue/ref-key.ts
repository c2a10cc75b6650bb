import type { ResourceRef } from '../../../store/resources/resource-record.js';

/** A resource as a queue key; names contain no slashes. */
export const refKey = ({ kind, name, workspace }: ResourceRef) => `${kind}/${workspace}/${name}`;

export function keyRef(key: string): ResourceRef {
  const [kind, workspace, name] = key.split('/') as [string, string, string];
  return { kind, workspace, name };
}

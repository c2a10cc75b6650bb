import { checkedResource } from '../../control/resources/check-resource.js';
import { hostileValueProblem } from '../../control/resources/documents/document-limits.js';
import type { WrittenResource } from '../../control/resources/read-resources.js';
import type { Resource } from '../../control/resources/resource.js';
import { differences } from '../../store/resources/resource-differences.js';
import { badPatch } from '../errors.js';
import { BODY } from '../request-parts.js';
import type { Patch } from './patch.js';

/** What a patch may change. A version in the metadata is the one that the patch is for. */
const CHANGEABLE = /^(?:spec|metadata\.labels|metadata\.resource_version)(?:$|[.[])/;

const placeOf = (path: string) => `${BODY} (${path})`;

/** A resource after a patch, checked as one that is applied. Secrets are stars in both, which mean: unchanged. */
export function patchedResource(before: Resource, patch: Patch): WrittenResource {
  const after = patch(before);
  // Operations may have copied a small part many times.
  const hostile = hostileValueProblem(after, placeOf);
  if (hostile !== null) throw hostile;
  for (const { path } of differences(before, after)) {
    if (CHANGEABLE.test(path)) continue;
    throw badPatch(placeOf(path), 'cannot be changed by a patch', 'change spec or metadata.labels');
  }
  return { resource: checkedResource(after, placeOf), placeOf };
}

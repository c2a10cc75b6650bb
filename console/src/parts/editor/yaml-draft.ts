import { isCollection, isMap as isYamlMap, parseDocument, stringify } from 'yaml';
import type { Resource } from '../../api/types';
import type { Path } from '../schema-form/json-schema';

/** YAML that is being edited: the text is what counts, and the form is a view of it. */
export interface Draft {
  /** Undefined while the text is not valid YAML. */
  readonly value: unknown;
  readonly problem: string | null;
}

export function readDraft(text: string): Draft {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) return { value: undefined, problem: error.message.split('\n')[0]! };
  try {
    const value: unknown = document.toJS();
    if (isYamlMap(document.contents)) return { value, problem: null };
    return { value: undefined, problem: 'a resource is a map: start with apiVersion, kind, metadata and spec' };
  } catch (failure) {
    return { value: undefined, problem: (failure as Error).message };
  }
}

/** The text with one value changed; its comments stay. @param value undefined takes the key out */
export function changedText(text: string, path: Path, value: unknown): string {
  const document = parseDocument(text);
  if (value === undefined) {
    document.deleteIn(path);
    return document.toString({ lineWidth: 0 });
  }
  for (let depth = 1; depth < path.length; depth++) {
    const parent = path.slice(0, depth);
    if (!isCollection(document.getIn(parent, true))) document.setIn(parent, document.createNode({}));
  }
  document.setIn(path, document.createNode(value));
  return document.toString({ lineWidth: 0 });
}

/** A resource as a file: what `twinyard get -o yaml` prints, without what the control plane sets. */
export function fileOf({
  apiVersion,
  kind,
  metadata,
  spec,
}: Pick<Resource, 'apiVersion' | 'kind' | 'metadata' | 'spec'>) {
  const { labels, name, workspace } = metadata;
  const own = {
    name,
    ...(workspace === undefined ? {} : { workspace }),
    ...(labels === undefined || Object.keys(labels).length === 0 ? {} : { labels }),
  };
  return stringify({ apiVersion, kind, metadata: own, spec }, { lineWidth: 0 });
}

import type { Resource } from '../../control/resources/resource.js';
import type { ApiHost } from '../api-host.js';
import { type Page, type PageQuery, pageOfAll } from '../pagination.js';
import { fileEndpointsIn } from './file-endpoints.js';

export interface ResourcePage extends Page<Resource> {
  /** A watch from this version on misses nothing that happened after the first page was read. */
  readonly resource_version: number;
}

/** A page of the resources of a kind, by workspace and name, those of the configuration file among them. */
export async function resourcePage(
  host: ApiHost,
  wanted: { readonly kind: string; readonly workspace?: string },
  selects: (labels: Readonly<Record<string, string>>) => boolean,
  query: PageQuery,
): Promise<ResourcePage> {
  const ofFile = fileEndpointsIn(host, wanted).filter(({ metadata }) => selects(metadata.labels));
  const store = host.hasStore ? await host.resources() : null;
  // Before the list is read: what happens meanwhile is then reported again, and never missed.
  const version = (await store?.resources.version()) ?? 0;
  const stored = (await store?.list(wanted, selects)) ?? [];
  const page = pageOfAll(`${wanted.kind}List`, query, [...ofFile, ...stored], keyOf, (one) => one);
  return { ...page, resource_version: version };
}

const keyOf = ({ metadata }: Resource) => [metadata.workspace ?? '', metadata.name] as const;

import { createStyle } from '../../report/text/style.js';
import type { ApiClient } from '../api/api-client.js';
import { stringFlag } from '../flags/kinds.js';
import { type CliIo, listPresentation } from '../io.js';
import { noRegistry, notForModels } from './errors.js';
import type { ResourceFormat } from './print/resource-format.js';
import { resourceAt } from './targets/called-resource.js';

export const modelFlags = {
  registry: stringFlag({ default: null, placeholder: 'name', help: 'with models: the ModelRegistry to list' }),
  search: stringFlag({ default: null, placeholder: 'text', help: 'with models: only those whose name contains this' }),
};

interface Asked {
  readonly registry: string | null;
  readonly search: string | null;
  readonly workspace: string;
  readonly output: ResourceFormat;
  readonly names: readonly string[];
}

interface ModelSummary {
  readonly name: string;
  readonly versions: readonly string[];
}

/** Models are not resources: the registry lists them. */
export const isModels = (kind: string) => ['model', 'models'].includes(kind.toLowerCase());

/** Lists the models of a registry, or prints some of them. */
export async function getModels(client: ApiClient, asked: Asked, io: CliIo): Promise<void> {
  const { names, output, registry, search, workspace } = asked;
  if (registry === null) throw noRegistry();
  if (output.type === 'custom-columns') throw notForModels();
  const { modelRegistry } = await import('../../control/resources/kinds/model-registry.js');
  const path = `${resourceAt(modelRegistry, registry, workspace).path}/models`;
  const found: unknown[] = [];
  for (const name of names) found.push(await client.call('GET', `${path}/${encodeURIComponent(name)}`));
  if (names.length === 0) {
    const { items } = await client.list<ModelSummary>(path, { query: { search } });
    if (output.type === 'table' || output.type === 'wide') {
      if (items.length === 0) io.stderr.write(`twinyard: ${registry} has no such models\n`);
      const style = createStyle(output.type === 'wide' ? { colour: false } : listPresentation(io));
      const rows = items.map((one) => [one.name, one.versions.join(',')]);
      const lines = items.length === 0 ? [] : style.table([['NAME', 'VERSIONS'], ...rows], ['left', 'left']);
      for (const line of lines) io.stdout.write(`${line}\n`);
      return;
    }
    found.push(...items);
  }
  const document = found.length === 1 && names.length === 1 ? found[0] : found;
  if (output.type === 'json') io.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
  else if (output.type === 'jsonpath') io.stdout.write(`${output.print({ items: found })}\n`);
  else if (output.type === 'name') io.stdout.write((found as ModelSummary[]).map(({ name }) => `${name}\n`).join(''));
  if (output.type === 'json' || output.type === 'jsonpath' || output.type === 'name') return;
  const { stringify } = await import('yaml');
  const documents = found.map((one) => stringify(one, { lineWidth: 0 }));
  io.stdout.write(documents.join('---\n'));
}

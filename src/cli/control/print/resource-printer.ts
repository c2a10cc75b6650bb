import type { Resource } from '../../../control/resources/resource.js';
import { createStyle } from '../../../report/text/style.js';
import { type CliIo, presentation } from '../../io.js';
import type { ResourceList, Seen, Watched } from '../targets/watch-resources.js';
import { ResourceTable } from './resource-table.js';

/** Prints resources of a kind in one of the output formats. */
export interface Printer {
  one(resource: Resource): void;
  all(list: Pick<ResourceList, 'kind' | 'items'>): void;
  some(seen: readonly Seen[]): void;
}

/** @param output `table`, `wide`, `yaml` or `json` */
export async function printer(watched: Watched, output: string, isWatch: boolean, io: CliIo): Promise<Printer> {
  const { stdout } = io;
  if (output === 'json') {
    const json = (value: unknown) => stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    const lines = (seen: readonly Seen[]) => seen.map((one) => `${JSON.stringify(one)}\n`).join('');
    return { one: json, all: json, some: (seen) => stdout.write(lines(seen)) };
  }
  if (output === 'yaml') {
    const { stringify } = await import('yaml');
    const document = (resource: Resource, head = '---\n') => `${head}${stringify(resource, { lineWidth: 0 })}`;
    return {
      one: (resource) => stdout.write(document(resource, '')),
      all: ({ items }) => stdout.write(items.map((one) => document(one)).join('')),
      some: (seen) => stdout.write(seen.map(({ resource, type }) => document(resource, `---\n# ${type}\n`)).join('')),
    };
  }
  const isWide = output === 'wide';
  // All columns are requested, even if the terminal does not show them.
  const style = createStyle({ ...presentation(io), ...(isWide ? { width: Number.POSITIVE_INFINITY } : {}) });
  const shape = { isWide, withWorkspace: watched.workspace === null, withChange: isWatch, style };
  const table = new ResourceTable(watched.kind, shape);
  const rows = (seen: Parameters<typeof table.text>[0]) => stdout.write(table.text(seen, Date.now()));
  return {
    one: (resource) => rows([{ resource }]),
    all({ items }) {
      if (items.length > 0) rows(items.map((resource) => ({ resource })));
      else io.stderr.write(`twinyard: no ${watched.kind.plural}${whereOf(watched)}\n`);
    },
    some: rows,
  };
}

function whereOf({ kind, labels, workspace }: Watched): string {
  const where = kind.scope === 'global' || workspace === null ? '' : ` in the workspace '${workspace}'`;
  return labels === null ? where : `${where} with these labels`;
}

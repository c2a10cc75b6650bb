import type { Resource } from '../../../control/resources/resource.js';
import { createStyle } from '../../../report/text/style.js';
import { type CliIo, listPresentation } from '../../io.js';
import type { ResourceList, Seen, Watched } from '../targets/watch-resources.js';
import { PrintedTable } from './printed-table.js';
import type { CustomColumn, ResourceFormat } from './resource-format.js';
import { ResourceTable } from './resource-table.js';

/** Prints resources of a kind in one of the output formats. */
export interface Printer {
  one(resource: Resource): void;
  all(list: Pick<ResourceList, 'kind' | 'items'>): void;
  some(seen: readonly Seen[]): void;
}

/** Whether all kinds of a list are one document: tables and the like are printed kind by kind. */
export const isOneDocument = ({ type }: ResourceFormat) => type === 'json' || type === 'jsonpath';

/** `endpoint/chat`, as commands accept it. */
export const shownName = ({ kind, metadata }: Resource) => `${kind.toLowerCase()}/${metadata.name}`;

export async function printer(watched: Watched, output: ResourceFormat, isWatch: boolean, io: CliIo): Promise<Printer> {
  const { stdout } = io;
  switch (output.type) {
    case 'json': {
      const json = (value: unknown) => stdout.write(`${JSON.stringify(value, null, 2)}\n`);
      const lines = (seen: readonly Seen[]) => seen.map((one) => `${JSON.stringify(one)}\n`).join('');
      return { one: json, all: json, some: (seen) => stdout.write(lines(seen)) };
    }
    case 'jsonpath': {
      const line = (document: unknown) => {
        const found = output.print(document);
        // What engines write must not control a terminal; a file gets it as it is.
        const text = stdout.isTTY ? found.replace(/[^\P{Cc}\n\t]/gu, '?') : found;
        stdout.write(text === '' || text.endsWith('\n') ? text : `${text}\n`);
      };
      const each = (seen: readonly Seen[]) => {
        for (const { resource } of seen) line(resource);
      };
      return { one: line, all: line, some: each };
    }
    case 'name': {
      const names = (some: readonly Resource[]) => stdout.write(some.map((one) => `${shownName(one)}\n`).join(''));
      return {
        one: (resource) => names([resource]),
        all: ({ items }) => names(items),
        some: (seen) => names(seen.map(({ resource }) => resource)),
      };
    }
    case 'custom-columns':
      return customPrinter(output.columns, io);
    case 'yaml':
      return yamlPrinter(io);
    default:
      return tablePrinter(watched, output.type === 'wide', isWatch, io);
  }
}

function customPrinter(columns: readonly CustomColumn[], { stdout }: CliIo): Printer {
  const table = new PrintedTable(
    columns.map(({ title }) => title),
    Number.POSITIVE_INFINITY,
  );
  const rows = (some: readonly Resource[]) => {
    const lines = table.lines(some.map((resource) => columns.map((one) => one.value(resource))));
    stdout.write(lines.map((line) => `${line}\n`).join(''));
  };
  return {
    one: (resource) => rows([resource]),
    all: ({ items }) => rows(items),
    some: (seen) => rows(seen.map(({ resource }) => resource)),
  };
}

async function yamlPrinter({ stdout }: CliIo): Promise<Printer> {
  const { stringify } = await import('yaml');
  const document = (resource: Resource, head = '---\n') => `${head}${stringify(resource, { lineWidth: 0 })}`;
  return {
    one: (resource) => stdout.write(document(resource, '')),
    all: ({ items }) => stdout.write(items.map((one) => document(one)).join('')),
    some: (seen) => stdout.write(seen.map(({ resource, type }) => document(resource, `---\n# ${type}\n`)).join('')),
  };
}

function tablePrinter(watched: Watched, isWide: boolean, isWatch: boolean, io: CliIo): Printer {
  // All columns are requested, even if the terminal does not show them.
  const style = createStyle({ ...listPresentation(io), ...(isWide ? { width: Number.POSITIVE_INFINITY } : {}) });
  const shape = { isWide, withWorkspace: watched.workspace === null, withChange: isWatch, style };
  const table = new ResourceTable(watched.kind, shape);
  const rows = (seen: Parameters<typeof table.text>[0]) => io.stdout.write(table.text(seen, Date.now()));
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

import { summaryOf } from '../commands.js';
import { badChoice } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { FILE_FORMATS, schemaDocument, schemaText } from './schema-documents.js';

const NAMES = FILE_FORMATS.map(({ name }) => name);

export const SCHEMA: CommandLine = {
  name: 'schema',
  summary: summaryOf('schema'),
  about:
    "Editors complete and check files by it. Write it to a file, as in 'twinyard schema config > twinyard.schema.json', and name it " +
    "in the first line of the YAML: '# yaml-language-server: $schema=twinyard.schema.json', or as the key '$schema', which is " +
    "accepted in all these files. The package has the same documents in the folder 'schemas'.",
  operands: { usage: '<format>', least: 1, most: 1 },
  groups: [{ title: 'Output', flags: {} }],
  more: async () => [{ title: 'Formats', rows: FILE_FORMATS.map(({ name, summary }) => [name, summary] as const) }],
  examples: ['schema config', 'schema resources', 'schema workload', 'schema experiment', 'schema variant'],
};

/** Prints the JSON Schema (2020-12) of a file format. */
export async function schema(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands } = await parseFlags(SCHEMA, argv);
  const format = FILE_FORMATS.find(({ name }) => name === operands[0]);
  if (format === undefined) throw badChoice('format', operands[0]!, NAMES);
  io.stdout.write(schemaText(await schemaDocument(format)));
  return 0;
}

// Writes what is generated from the code: pages of docs/ (a page per command, policy and scorer, tables of keys and metrics) and the
// JSON Schemas of file formats in schemas/.
import './ensure.mjs';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const docs = join(dirname(fileURLToPath(import.meta.url)), '..', 'docs');
const { generatedPages } = await import('../dist/cli/documentation/pages.js');
const pages = await generatedPages();

// Folders that hold generated pages only.
for (const folder of ['commands', 'policies']) {
  mkdirSync(join(docs, folder), { recursive: true });
  for (const name of readdirSync(join(docs, folder))) {
    if (!pages.has(`${folder}/${name}`)) rmSync(join(docs, folder, name));
  }
}
for (const [path, text] of pages) writeFileSync(join(docs, path), text);

const schemas = join(docs, '..', 'schemas');
const { schemaFiles } = await import('../dist/cli/schema/schema-documents.js');
const files = await schemaFiles();
mkdirSync(schemas, { recursive: true });
for (const name of readdirSync(schemas)) if (!files.has(name)) rmSync(join(schemas, name));
for (const [name, text] of files) writeFileSync(join(schemas, name), text);
process.stderr.write(`docs: ${pages.size} pages and ${files.size} schemas are up to date\n`);

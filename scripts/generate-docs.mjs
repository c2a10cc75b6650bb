// Writes the pages of docs/ that are generated from the code: a page per command, policy and scorer, and tables of keys and metrics.
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
process.stderr.write(`docs: ${pages.size} pages are up to date\n`);

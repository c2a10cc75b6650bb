// Writes the pages of docs/ that are made from the code: the command line, and a page per policy and scorer.
import './ensure.mjs';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const docs = join(dirname(fileURLToPath(import.meta.url)), '..', 'docs');
const { generatedPages } = await import('../dist/cli/documentation/pages.js');
const pages = await generatedPages();

mkdirSync(join(docs, 'policies'), { recursive: true });
for (const name of readdirSync(join(docs, 'policies'))) {
  if (!pages.has(`policies/${name}`)) rmSync(join(docs, 'policies', name));
}
for (const [path, text] of pages) writeFileSync(join(docs, path), text);
process.stderr.write(`docs: ${pages.size} pages are up to date\n`);

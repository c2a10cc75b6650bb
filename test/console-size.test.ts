import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const BUILT = fileURLToPath(new URL('../dist/console', import.meta.url));
const MOST_BYTES = 250_000;

const read = (path: string) => readFileSync(join(BUILT, path), 'utf8');
/** Files that a file loads at once: static imports, and what the page names. */
const loadedBy = (source: string) =>
  [...source.matchAll(/(?:from|import)\s*["']\.\/([\w.-]+)["']|(?:src|href)="\/(assets\/[\w.-]+)"/g)].map(
    ([, beside, named]) => named ?? `assets/${beside}`,
  );

test('the first page is at most 250 kB, compressed', () => {
  const overview = readdirSync(join(BUILT, 'assets')).find((name) => /^overview-page-[\w-]+\.js$/.test(name))!;
  const left = ['index.html', `assets/${overview}`];
  const sizes = new Map<string, number>();
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    if (sizes.has(path)) continue;
    const source = read(path);
    sizes.set(path, gzipSync(source).length);
    left.push(...loadedBy(source));
  }
  expect([...sizes.keys()].map(read).filter((source) => /uplot/i.test(source))).toEqual([]);
  expect(sizes.size).toBeGreaterThan(3);
  expect([...sizes.values()].reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MOST_BYTES);
});

test('the page has no inline script or style, which its content security policy forbids', () => {
  const page = read('index.html');
  expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/);
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { WholeResponse } from '../../gateway/server/admin-api.js';
import { consoleFile } from './console-files.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-console-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function build(): void {
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html>');
  writeFileSync(join(folder, 'assets', 'a-1.js'), 'let a;');
  writeFileSync(join(folder, 'assets', 'a-1.js.gz'), gzipSync('let a;'));
  writeFileSync(join(folder, 'secret.txt'), 'secret');
}

function get(path: string, given: Record<string, string> = {}, method = 'GET') {
  const response = consoleFile({ method, path, header: (name) => given[name] }, folder) as WholeResponse;
  const headers = new Map<string, string>();
  for (let i = 0; i < (response.headers ?? []).length; i += 2)
    headers.set(response.headers![i]!, response.headers![i + 1]!);
  return { ...response, headers };
}

const PAGE = { accept: 'text/html,application/xhtml+xml' };

it('serves the page at every address that a browser opens, and allows no frame, no inline script and no other origin', () => {
  build();
  for (const path of ['/', '/requests', '/endpoints/default/chat']) {
    const { body, headers, status, type } = get(path, PAGE);
    expect([status, type, String(body)]).toEqual([200, 'text/html; charset=utf-8', '<!doctype html>']);
    const policy = headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|http/);
    expect([headers.get('x-frame-options'), headers.get('referrer-policy')]).toEqual(['DENY', 'no-referrer']);
    expect(headers.get('cache-control')).toBe('no-cache');
  }
});

it('serves hashed files for good, compressed for those that accept it', () => {
  build();
  const plain = get('/assets/a-1.js');
  expect([String(plain.body), plain.headers.get('content-encoding')]).toEqual(['let a;', undefined]);
  expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  const small = get('/assets/a-1.js', { 'accept-encoding': 'gzip, deflate, br;q=1' });
  expect(small.headers.get('content-encoding')).toBe('gzip');
  expect(gunzipSync(small.body as Buffer).toString()).toBe('let a;');
  expect(small.headers.get('vary')).toBe('accept-encoding');
});

it('serves nothing else: no other file, no other method, no path out of the folder', () => {
  build();
  for (const path of [
    '/secret.txt',
    '/assets/none.js',
    '/../package.json',
    '/assets/..%2f..%2fpackage.json',
    '/assets',
  ]) {
    expect([path, get(path).status]).toEqual([path, 404]);
  }
  expect(get('/', PAGE, 'POST').status).toBe(404);
});

it('says how to build what is not built', () => {
  expect(get('/', PAGE)).toMatchObject({ status: 404, body: { error: { code: 'API_NO_CONSOLE' } } });
  build();
  expect(get('/', PAGE).status).toBe(200);
});

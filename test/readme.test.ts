import { spawn } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseMarkdown } from './support/markdown-page.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The ports that the blocks use as they stand. */
const PORTS = [8080, 8081, 9001];

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

const areFree = (await Promise.all(PORTS.map(isFree))).every(Boolean);
if (!areFree) process.stderr.write(`skipped: the server blocks of README.md, because a port of ${PORTS} is in use\n`);

const page = readFileSync(join(ROOT, 'README.md'), 'utf8');
const blocks = parseMarkdown(page).blocks.filter(({ language }) => language === 'sh');

describe.skipIf(!areFree)('server blocks of README.md, pasted as they stand', () => {
  let folder = '';

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'twinyard-readme-'));
    cpSync(join(ROOT, 'examples'), join(folder, 'examples'), {
      recursive: true,
      filter: (path) => !path.includes('llama'),
    });
    const main = join(ROOT, 'dist', 'cli', 'main.js');
    writeFileSync(join(folder, 'twinyard'), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
    chmodSync(join(folder, 'twinyard'), 0o755);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const paste = (script: string) =>
    new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
      const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
      const shell = spawn('bash', ['-c', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let stdout = '';
      let stderr = '';
      shell.stdout.on('data', (piece) => {
        stdout += piece;
      });
      shell.stderr.on('data', (piece) => {
        stderr += piece;
      });
      shell.on('close', (code) => resolve({ code, stdout, stderr }));
    });

  test('there are two', () => {
    expect(blocks).toHaveLength(2);
  });

  test('a request through the gateway is served, with a key and a recording', async () => {
    const { code, stdout, stderr } = await paste(blocks[0]!.lines.join('\n'));
    expect(stdout, stderr).toContain('"object":"chat.completion"');
    expect([code, await Promise.all(PORTS.map(isFree))]).toEqual([0, [true, true, true]]);
    expect(
      readFileSync(join(folder, 'out', 'traffic.jsonl'), 'utf8')
        .trim()
        .split('\n').length,
    ).toBeGreaterThan(0);
  });

  test('an endpoint is applied, scaled and deleted', async () => {
    const { code, stdout, stderr } = await paste(blocks[1]!.lines.join('\n'));
    expect(stdout, stderr).toMatch(/chat +(?:Running|Deploying) +[345]\/5/);
    expect([code, await Promise.all(PORTS.map(isFree))]).toEqual([0, [true, true, true]]);
  });
});

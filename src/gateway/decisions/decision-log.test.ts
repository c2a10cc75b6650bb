import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { DecisionLog } from './decision-log.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-log-'));
afterAll(() => rmSync(folder, { recursive: true }));

const done = (request: number) => ({ type: 'done', endpoint: 'e', request, atUs: 5, outputTokens: 0 }) as const;
const noFailure = () => {
  throw new Error('the log failed');
};

describe('DecisionLog', () => {
  it('writes one line per call, in order, readable by its owner only', () => {
    const path = join(folder, 'a.jsonl');
    const log = new DecisionLog(path, noFailure);
    log.write(done(1));
    log.flush();
    expect(readFileSync(path, 'utf8')).toBe('{"type":"done","endpoint":"e","request":1,"atUs":5,"outputTokens":0}\n');
    log.write({ type: 'replicas', endpoint: 'e', ids: ['a\n', '"'] });
    log.close();
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(JSON.parse(lines[1]!)).toEqual({ type: 'replicas', endpoint: 'e', ids: ['a\n', '"'] });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('keeps little in memory', () => {
    const path = join(folder, 'b.jsonl');
    const log = new DecisionLog(path, noFailure);
    for (let i = 0; i < 3000; i++) log.write(done(i));
    const { size } = statSync(path);
    expect(size).toBeGreaterThan(64 * 1024);
    log.close();
    expect(statSync(path).size - size).toBeLessThan(64 * 1024);
    expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toHaveLength(3000);
  });

  it('replaces an older file', () => {
    const path = join(folder, 'c.jsonl');
    writeFileSync(path, 'old');
    new DecisionLog(path, noFailure).close();
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  it('reports a path that cannot be written', () => {
    expect(() => new DecisionLog(join(folder, 'none', 'd.jsonl'), noFailure)).toThrowError(
      expect.objectContaining({
        code: 'OUTPUT_NOT_WRITABLE',
        problem: 'cannot be written (its folder does not exist)',
      }),
    );
  });

  it('reports a failed write once, and fails no request', ({ skip }) => {
    skip(!existsSync('/dev/full'), 'there is no /dev/full here');
    const failures: unknown[] = [];
    const log = new DecisionLog('/dev/full', (error) => failures.push(error));
    log.write(done(1));
    expect(log.isBroken).toBe(false);
    log.flush();
    log.write(done(2));
    log.close();
    expect([log.isBroken, failures.map(String)]).toEqual([
      true,
      ['Error: /dev/full: cannot be written (disk full); no more decisions are logged'],
    ]);
  });
});

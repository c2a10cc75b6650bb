import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InputError, RunError } from '../../kernel/errors.js';
import { fakeRun } from '../fake-experiment.fixture.js';
import { readResult } from './shard.js';
import { plainError, thrownError } from './worker-message.js';
import { createExecutor, WorkerPool } from './worker-pool.js';

let folder: string;
let pool: WorkerPool;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-pool-'));
});
afterEach(async () => {
  await pool.close();
  rmSync(folder, { recursive: true });
});

/** A pool of threads that run this code with each `run`. */
function poolOf(width: number, text: string): WorkerPool {
  const file = join(folder, 'worker.mjs');
  writeFileSync(
    file,
    `import { parentPort, threadId } from 'node:worker_threads';
     const answer = (requests) => parentPort.postMessage({ result: JSON.stringify({ requests }) });
     parentPort.on('message', (run) => { const seed = run.config.seed; ${text} });`,
  );
  pool = new WorkerPool(width, pathToFileURL(file));
  return pool;
}

const run = (seed: number) =>
  pool.run({ hash: '', inputs: fakeRun({ seed }) }).then((result) => readResult(result).requests);

describe('WorkerPool', () => {
  it('completes every run, with more runs than threads', async () => {
    poolOf(2, 'answer(seed * 10)');
    expect(await Promise.all([1, 2, 3, 4, 5].map(run))).toEqual([10, 20, 30, 40, 50]);
  });

  it('starts at most the allowed number of threads', async () => {
    poolOf(2, 'answer(threadId)');
    expect(new Set(await Promise.all([1, 2, 3, 4, 5, 6].map(run))).size).toBeLessThanOrEqual(2);
  });

  it('uses threads that were started before there was anything to do', async () => {
    poolOf(3, 'answer(threadId)').prepare(2);
    const threads = await Promise.all([1, 2].map(run));
    expect(new Set(threads).size).toBe(2);
    expect(threads).toContain((await run(3)) as number);
  });

  it('throws what a worker threw', async () => {
    poolOf(1, `parentPort.postMessage({ error: { kind: 'input', code: 'C', place: 'p', problem: 'q', hint: 'r' } })`);
    await expect(run(1)).rejects.toEqual(new InputError('C', 'p', 'q', 'r'));
  });

  it.each([
    ['throws', `throw new Error('broken')`, 'a run could not be simulated: broken'],
    ['ends', 'process.exit(3)', 'a run could not be simulated: its thread ended with code 3'],
  ])('fails a run whose thread %s, and continues with another', async (_, text, message) => {
    poolOf(1, `if (seed === 1) { ${text} } else answer(seed)`);
    const [first, second] = await Promise.allSettled([run(1), run(2)]);
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'WORKER_LOST', message } });
    expect(second).toEqual({ status: 'fulfilled', value: 2 });
  });

  it('reports that memory ran out', async () => {
    poolOf(1, `throw Object.assign(new Error('x'), { code: 'ERR_WORKER_OUT_OF_MEMORY' })`);
    await expect(run(1)).rejects.toThrow('not enough memory; try fewer workers or requests');
  });

  it('ends threads that are busy', async () => {
    poolOf(1, 'if (seed === 1) for (;;); ');
    let settled = false;
    void run(1).finally(() => {
      settled = true;
    });
    void run(2);
    await pool.close();
    expect(settled).toBe(false);
  });
});

describe('createExecutor', () => {
  it('works in this thread where nothing is compiled', async () => {
    poolOf(1, '');
    const executor = await createExecutor(4);
    expect(executor.width).toBe(1);
    await executor.close();
  });
});

describe('errors between threads', () => {
  it.each([new InputError('CODE', 'place', 'problem', 'hint'), new RunError('CODE', 'message'), new Error('anything')])(
    'arrive as they were thrown: $name',
    (error) => {
      poolOf(1, '');
      const copy = thrownError(structuredClone(plainError(error)));
      expect(copy).toEqual(error);
      expect(copy.constructor).toBe(error.constructor);
    },
  );

  it('may be any thrown value', () => {
    poolOf(1, '');
    expect(thrownError(plainError('a text'))).toEqual(new Error('a text'));
  });
});

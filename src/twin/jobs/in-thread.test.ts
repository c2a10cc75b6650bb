import { describe, expect, it } from 'vitest';
import { inThread, type ThreadOptions } from './in-thread.js';

const program = (code: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import { parentPort, workerData } from 'node:worker_threads';${code}`)}`,
  );

const options = (changes: Partial<ThreadOptions> = {}): ThreadOptions => ({
  signal: new AbortController().signal,
  onProgress: () => {},
  ...changes,
});

describe('a thread for long work', () => {
  it('reports its progress and returns its document', async () => {
    const stages: string[] = [];
    const code = `
      parentPort.postMessage({ progress: { stage: 'first', done: 0, total: 1 } });
      parentPort.postMessage({ document: { twice: 2 * workerData.value } });`;
    const document = await inThread(
      program(code),
      { value: 21 },
      options({ onProgress: ({ stage }) => stages.push(stage) }),
    );
    expect([document, stages]).toEqual([{ twice: 42 }, ['first']]);
  });

  it('is ended while it computes when it is cancelled', async () => {
    const abort = new AbortController();
    const code = `parentPort.postMessage({ progress: { stage: 'busy', done: 0, total: 0 } }); for (;;);`;
    const busy = inThread(program(code), {}, options({ signal: abort.signal, onProgress: () => abort.abort() }));
    await expect(busy).rejects.toMatchObject({ code: 'TWIN_CANCELLED' });
    await expect(inThread(program(code), {}, options({ signal: abort.signal }))).rejects.toMatchObject({
      code: 'TWIN_CANCELLED',
    });
  });

  it('is ended after the time that it has', async () => {
    await expect(inThread(program('for (;;);'), {}, options({ mostMs: 50 }))).rejects.toMatchObject({
      code: 'TWIN_TOO_LONG',
    });
  });

  it('is ended when it needs more memory than it may have, in objects or in buffers', async () => {
    const objects = 'const all = []; for (;;) all.push(new Array(1000).fill(0).map(() => ({})));';
    await expect(inThread(program(objects), {}, options({ mostMegabytes: 32 }))).rejects.toMatchObject({
      code: 'TWIN_TOO_LARGE',
    });
    const buffers = 'const all = []; setInterval(() => all.push(new Uint8Array(2 ** 20).fill(1)), 1);';
    await expect(inThread(program(buffers), {}, options({ mostMegabytes: 64 }))).rejects.toMatchObject({
      code: 'TWIN_TOO_LARGE',
    });
  });

  it('fails with the reason when it breaks or ends without a result', async () => {
    await expect(inThread(program("throw new Error('broken')"), {}, options())).rejects.toMatchObject({
      code: 'TWIN_LOST',
      message: expect.stringContaining('broken'),
    });
    await expect(inThread(program('process.exit(3)'), {}, options())).rejects.toMatchObject({
      message: expect.stringContaining('code 3'),
    });
  });
});

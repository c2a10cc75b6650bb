import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { nvidiaGpus, thisMachine } from './machine.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-smi-'));
afterAll(() => rmSync(folder, { recursive: true }));
const env = { PATH: folder };

/** Puts an `nvidia-smi` on the PATH. */
function driver(script: string): void {
  const path = join(folder, 'nvidia-smi');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

describe('nvidia-smi', () => {
  test('without a driver there are no GPUs, and no problem', async () => {
    expect(await nvidiaGpus({ PATH: join(folder, 'none') })).toEqual({ gpus: [], problem: null });
  });

  test('lists the GPUs of the machine', async () => {
    driver(`
      [ "$*" = "--query-gpu=index,name,memory.total --format=csv,noheader,nounits" ] || exit 9
      echo "0, NVIDIA H100 80GB HBM3, 81559"
      echo "1, NVIDIA GB10, [N/A]"`);
    const gpus = [
      { id: '0', product: 'NVIDIA H100 80GB HBM3', memoryMiB: 81_559 },
      { id: '1', product: 'NVIDIA GB10', memoryMiB: null },
    ];
    expect(await nvidiaGpus(env)).toEqual({ gpus, problem: null });
    const { machine, problems } = await thisMachine({}, env);
    expect([machine.gpus, problems]).toEqual([gpus, []]);
    expect(machine.cpus).toBeGreaterThan(0);
    expect(machine.memoryBytes).toBeGreaterThan(1024 ** 2);
  });

  test.each([
    ['echo "Failed to initialize NVML" >&2; echo more >&2; exit 18', 'nvidia-smi: Failed to initialize NVML'],
    ['echo "No devices were found"; exit 6', 'nvidia-smi: No devices were found'],
    ['exit 7', 'nvidia-smi: failed (7)'],
    ['echo "what now"', "nvidia-smi: cannot read 'what now' as a GPU"],
  ])('reports why it fails: %s', async (script, problem) => {
    driver(script);
    expect(await nvidiaGpus(env)).toEqual({ gpus: [], problem });
    expect((await thisMachine({}, env)).problems).toEqual([problem]);
  });

  test('is not run when GPUs are declared', async () => {
    driver('exit 7');
    const declared = { cpus: 3, memoryBytes: 5, gpus: [{ id: '4', product: 'AMD MI300X', memoryMiB: null }] };
    expect(await thisMachine(declared, env)).toEqual({ machine: declared, problems: [] });
  });
});

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { RunnerGround } from '../runner.contract.js';
import { LocalRunner, type LocalRunnerOptions } from './local-runner.js';
import { allProcesses, type FoundProcess } from './process-table.js';
import { send } from './replica-process.js';

/** Two GPUs that nobody has to have, and all that is quick. */
const OPTIONS: Omit<LocalRunnerOptions, 'folder'> = {
  machine: { gpus: ['0', '1'].map((id) => ({ id, product: 'NVIDIA H100 80GB HBM3', memoryMiB: 81_559 })) },
  readiness: { everyMs: 20, timeoutMs: 5000, failures: 2 },
};

/** A folder for replicas that is gone after the test, with all that runs from it. */
export class LocalGround implements RunnerGround {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'twinyard-runner-')));
  readonly replicas = join(this.folder, 'replicas');
  readonly faults: Error[] = [];

  open(change: Partial<LocalRunnerOptions> = {}): Promise<LocalRunner> {
    return LocalRunner.open({
      folder: this.folder,
      ...OPTIONS,
      onFault: (error) => this.faults.push(error),
      ...change,
    });
  }

  async found(): Promise<FoundProcess[]> {
    return (await allProcesses()).filter(({ folders }) => folders.some((folder) => dirname(folder) === this.replicas));
  }

  async processes(): Promise<number> {
    return (await this.found()).length;
  }

  async clear(): Promise<void> {
    for (let left = await this.found(); left.length > 0; left = await this.found()) {
      for (const { pid } of left) send(pid, 'SIGKILL');
    }
    rmSync(this.folder, { recursive: true });
  }
}

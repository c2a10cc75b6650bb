import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ReplicaHandle } from '../contract.js';
import { fakeSpec, tellFake } from '../fake-engine.fixture.js';
import type { RunnerGround } from '../runner.contract.js';
import { LocalRunner, type LocalRunnerOptions } from './local-runner.js';
import { allProcesses, type FoundProcess } from './process/process-table.js';
import { sendSignal } from './process/replica-process.js';
import { readRecord } from './replica-record.js';

/** Two GPUs that need not exist, and quick readiness checks. */
const OPTIONS: Omit<LocalRunnerOptions, 'folder'> = {
  machine: { gpus: ['0', '1'].map((id) => ({ id, product: 'NVIDIA H100 80GB HBM3', memoryMiB: 81_559 })) },
  readiness: { everyMs: 20, timeoutMs: 5000, failures: 2 },
};

/** A folder for replicas; removed after the test with everything that runs from it. */
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

  readonly spec = fakeSpec;
  readonly tell = tellFake;

  async remove({ id }: ReplicaHandle): Promise<void> {
    sendSignal(this.pidOf(id), 'SIGKILL');
  }

  /** The process of a replica. */
  pidOf(id: string): number {
    return readRecord(join(this.replicas, id))!.process.pid;
  }

  async found(): Promise<FoundProcess[]> {
    return (await allProcesses()).filter(({ folders }) => folders.some((folder) => dirname(folder) === this.replicas));
  }

  async processes(): Promise<number> {
    return (await this.found()).length;
  }

  async clear(): Promise<void> {
    for (let left = await this.found(); left.length > 0; left = await this.found()) {
      for (const { pid } of left) sendSignal(pid, 'SIGKILL');
    }
    rmSync(this.folder, { recursive: true });
  }
}

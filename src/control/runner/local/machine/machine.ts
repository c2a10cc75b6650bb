import { execFile } from 'node:child_process';
import { availableParallelism, totalmem } from 'node:os';
import type { Gpu } from '../../contract.js';
import type { Machine } from './allocate.js';

/** A driver that hangs must not hang the control plane. */
const TIMEOUT_MS = 10_000;

const ARGS = ['--query-gpu=index,name,memory.total', '--format=csv,noheader,nounits'];

/**
 * The resources of this machine: declared or else detected. GPUs are detected through the driver.
 * @returns also why GPUs may be missing
 */
export async function thisMachine(
  declared: Partial<Machine>,
  env: NodeJS.ProcessEnv,
): Promise<{ machine: Machine; problems: string[] }> {
  const { gpus, problem } =
    declared.gpus === undefined ? await nvidiaGpus(env) : { gpus: declared.gpus, problem: null };
  // A container may be limited to a part of the machine's memory; without a limit this is 0 or a huge number.
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return {
    machine: {
      cpus: declared.cpus ?? availableParallelism(),
      memoryBytes: declared.memoryBytes ?? Math.min(totalmem(), limit),
      gpus,
    },
    problems: problem === null ? [] : [problem],
  };
}

/** The GPUs that the driver lists; none, and no problem, when there is no driver. */
export function nvidiaGpus(env: NodeJS.ProcessEnv): Promise<{ gpus: Gpu[]; problem: string | null }> {
  return new Promise((resolve) => {
    execFile('nvidia-smi', ARGS, { env, timeout: TIMEOUT_MS, encoding: 'utf8' }, (error, stdout, stderr) => {
      if (error === null) resolve(parsed(stdout));
      else if (error.code === 'ENOENT') resolve({ gpus: [], problem: null });
      else resolve({ gpus: [], problem: `nvidia-smi: ${firstLine(stderr) || firstLine(stdout) || failure(error)}` });
    });
  });
}

function parsed(text: string): { gpus: Gpu[]; problem: string | null } {
  const gpus: Gpu[] = [];
  for (const line of text.split('\n').filter((line) => line.trim() !== '')) {
    const match = /^\s*(\d+)\s*,\s*(.+?)\s*,\s*([^,]*?)\s*$/.exec(line);
    if (match === null) return { gpus: [], problem: `nvidia-smi: cannot read '${line.trim()}' as a GPU` };
    // Devices that share the machine's memory do not report an amount.
    gpus.push({ id: match[1]!, product: match[2]!, memoryMiB: /^\d+$/.test(match[3]!) ? Number(match[3]) : null });
  }
  return { gpus, problem: null };
}

const firstLine = (text: string) => text.trim().split('\n')[0]!;

const failure = ({ code, killed }: { code?: unknown; killed?: boolean }) =>
  killed ? `no response within ${TIMEOUT_MS / 1000} s` : `failed (${code})`;

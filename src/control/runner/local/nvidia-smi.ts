import { execFile } from 'node:child_process';
import type { Gpu } from '../contract.js';

/** A driver that hangs must not hang the control plane. */
const TIMEOUT_MS = 10_000;

const ARGS = ['--query-gpu=index,name,memory.total', '--format=csv,noheader,nounits'];

/** The GPUs of this machine as its driver lists them; none, without a problem, where there is no driver. */
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
    if (match === null) return { gpus: [], problem: `nvidia-smi: says '${line.trim()}', which is no GPU` };
    // Devices that share the machine's memory do not say how much they have.
    gpus.push({ id: match[1]!, product: match[2]!, memoryMiB: /^\d+$/.test(match[3]!) ? Number(match[3]) : null });
  }
  return { gpus, problem: null };
}

const firstLine = (text: string) => text.trim().split('\n')[0]!;

const failure = ({ code, killed }: { code?: unknown; killed?: boolean }) =>
  killed ? `no answer within ${TIMEOUT_MS / 1000} s` : `failed (${code})`;

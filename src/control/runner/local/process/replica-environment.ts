import type { GpuShare } from '../../contract.js';

/** What programs need to find their libraries and their user, and nothing that could be a secret. */
const BASE = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'TZ', 'LANG', 'LANGUAGE', 'LC_ALL', 'LC_CTYPE'],
  ...['LD_LIBRARY_PATH', 'CUDA_HOME', 'CUDA_PATH', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
];

/** Those that belong to the control plane's own user. */
const OF_THE_USER = ['HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR'];

export interface ReplicaSurroundings {
  readonly folder: string;
  readonly gpus: readonly GpuShare[];
  /** `HOME` and `USER` of another user; null where replicas run as the user of the control plane. */
  readonly home: Readonly<Record<string, string>> | null;
}

/** Names the replica that a process belongs to; child processes inherit it. */
export const FOLDER_VARIABLE = 'TWINYARD_REPLICA_FOLDER';

/**
 * The environment of a replica: a base of the control plane's own, what its spec declares, and the GPUs it was given. A spec
 * cannot override the last: a replica without GPUs sees none.
 */
export function replicaEnvironment(
  own: NodeJS.ProcessEnv,
  declared: Readonly<Record<string, string>>,
  { folder, gpus, home }: ReplicaSurroundings,
): Record<string, string> {
  const names = home === null ? BASE : BASE.filter((name) => !OF_THE_USER.includes(name));
  const base = names.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]] as const]));
  return {
    ...Object.fromEntries(base),
    ...home,
    ...declared,
    // nvidia-smi numbers devices in bus order, which is not CUDA's default.
    CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
    CUDA_VISIBLE_DEVICES: gpus.map(({ id }) => id).join(','),
    [FOLDER_VARIABLE]: folder,
  };
}

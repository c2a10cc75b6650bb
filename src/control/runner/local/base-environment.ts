import type { GpuShare } from '../contract.js';

/** What programs need to find themselves, their libraries and their user, and nothing that could be a secret. */
const BASE = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'TZ', 'LANG', 'LANGUAGE', 'LC_ALL', 'LC_CTYPE'],
  ...['LD_LIBRARY_PATH', 'CUDA_HOME', 'CUDA_PATH', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
];

/** Names the replica that a process belongs to, however far down it was started. */
export const FOLDER_VARIABLE = 'TWINYARD_REPLICA_FOLDER';

/**
 * The environment of a replica: a base of the control plane's own, what its spec declares, and the GPUs it was given. The
 * last cannot be declared otherwise: whoever has no GPU sees none.
 */
export function replicaEnvironment(
  own: NodeJS.ProcessEnv,
  declared: Readonly<Record<string, string>>,
  { folder, gpus }: { readonly folder: string; readonly gpus: readonly GpuShare[] },
): Record<string, string> {
  const base = BASE.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]] as const]));
  return {
    ...Object.fromEntries(base),
    ...declared,
    // The driver's list is in the order of the bus; CUDA's own order is another.
    CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
    CUDA_VISIBLE_DEVICES: gpus.map(({ id }) => id).join(','),
    [FOLDER_VARIABLE]: folder,
  };
}

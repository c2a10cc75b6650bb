import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unreadableKubeFile } from '../errors.js';
import type { KubeAccess } from './kube-access.js';
import { TokenFile } from './token-file.js';

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The access of a pod by its service account; null outside of a pod. */
export function inCluster(env: NodeJS.ProcessEnv, account = ACCOUNT): KubeAccess | null {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (host === undefined || !existsSync(join(account, 'token'))) return null;
  const read = (name: string) => {
    try {
      return readFileSync(join(account, name), 'utf8');
    } catch (error) {
      throw unreadableKubeFile(join(account, name), error);
    }
  };
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca: read('ca.crt'),
    skipsTlsVerify: false,
    tlsServerName: null,
    namespace: read('namespace').trim() || 'default',
    credentials: new TokenFile(join(account, 'token')),
  };
}

import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import * as yaml from 'yaml';
import { badKubeconfig, unreadableKubeconfig, unreadableKubeFile } from '../errors.js';
import { ExecPlugin } from './exec-plugin.js';
import { FileCredential } from './file-credential.js';
import { bearer, type Credential, type Credentials, type KubeAccess } from './kube-access.js';
import { TokenFile } from './token-file.js';

interface Cluster {
  server?: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'tls-server-name'?: string;
}

interface User {
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
  exec?: {
    apiVersion?: string;
    command?: string;
    args?: string[] | null;
    env?: { name: string; value: string }[] | null;
    provideClusterInfo?: boolean;
  };
  'auth-provider'?: { name?: string; config?: Record<string, string> };
}

/** The access that a kubeconfig file describes. @param context null for its current one */
export function readKubeconfig(file: string, context: string | null): KubeAccess {
  const config = parsed(file);
  const name = context ?? config['current-context'];
  if (typeof name !== 'string' || name === '') {
    throw badKubeconfig(file, 'has no current context', 'set one with kubectl config use-context NAME');
  }
  const chosen = part<{ cluster?: string; user?: string; namespace?: string }>(file, config, 'context', name);
  const cluster = part<Cluster>(file, config, 'cluster', chosen.cluster ?? '');
  if (!/^https?:\/\//.test(cluster.server ?? '')) {
    throw badKubeconfig(file, `cluster '${chosen.cluster}' has no server with http:// or https://`);
  }
  const user = chosen.user ? part<User>(file, config, 'user', chosen.user) : {};
  const beside = (path: string) => (isAbsolute(path) ? path : join(dirname(file), path));
  return {
    server: cluster.server!.replace(/\/+$/, ''),
    ca: pem(beside, cluster['certificate-authority-data'], cluster['certificate-authority']),
    skipsTlsVerify: cluster['insecure-skip-tls-verify'] === true,
    tlsServerName: cluster['tls-server-name'] ?? null,
    namespace: chosen.namespace ?? 'default',
    credentials: credentialsOf(file, chosen.user ?? '', user, cluster, beside),
  };
}

function parsed(file: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadableKubeconfig(file, error);
  }
  try {
    const config: unknown = yaml.parse(text);
    if (typeof config === 'object' && config !== null) return config as Record<string, unknown>;
  } catch (error) {
    throw badKubeconfig(file, `is not YAML (${(error as Error).message.split('\n')[0]})`);
  }
  throw badKubeconfig(file, 'is no kubeconfig');
}

/** The part called `name` in one of the lists of a kubeconfig. */
function part<Part>(file: string, config: Record<string, unknown>, kind: string, name: string): Part {
  const list = config[`${kind}s`];
  const found = (Array.isArray(list) ? (list as Record<string, unknown>[]) : []).find((one) => one?.name === name);
  const value = found?.[kind];
  if (typeof value !== 'object' || value === null) throw badKubeconfig(file, `has no ${kind} '${name}'`);
  return value as Part;
}

function pem(beside: (path: string) => string, data: string | undefined, path: string | undefined): string | null {
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  if (!path) return null;
  try {
    return readFileSync(beside(path), 'utf8');
  } catch (error) {
    throw unreadableKubeFile(beside(path), error);
  }
}

function credentialsOf(
  file: string,
  name: string,
  user: User,
  cluster: Cluster,
  beside: (path: string) => string,
): Credentials {
  const { exec } = user;
  if (exec !== undefined) {
    if (!exec.command) throw badKubeconfig(file, `user '${name}' has a plugin without a command`);
    return new ExecPlugin({
      apiVersion: exec.apiVersion ?? 'client.authentication.k8s.io/v1',
      // As kubectl: a path with a slash is relative to the file.
      command: exec.command.includes('/') ? beside(exec.command) : exec.command,
      args: exec.args ?? [],
      env: Object.fromEntries((exec.env ?? []).map((one) => [one.name, one.value])),
      cluster: exec.provideClusterInfo === true ? { ...cluster } : null,
    });
  }
  if (user.tokenFile) return new TokenFile(beside(user.tokenFile));
  let isFirst = true;
  return new FileCredential(() => {
    // A login command writes its new token into the same file.
    const present = isFirst ? user : part<User>(file, parsed(file), 'user', name);
    isFirst = false;
    return fixedCredential(file, name, present, beside);
  });
}

function fixedCredential(file: string, name: string, user: User, beside: (path: string) => string): Credential {
  const cert = pem(beside, user['client-certificate-data'], user['client-certificate']);
  const key = pem(beside, user['client-key-data'], user['client-key']);
  if ((cert === null) !== (key === null)) throw badKubeconfig(file, `user '${name}' has a certificate without its key`);
  return {
    authorization: authorizationOf(file, name, user),
    ...(cert === null || key === null ? {} : { cert, key }),
  };
}

function authorizationOf(file: string, name: string, user: User): string | null {
  if (user.token) return bearer(user.token).authorization;
  if (user.username) {
    return `Basic ${Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64')}`;
  }
  const provider = user['auth-provider'];
  if (provider === undefined) return null;
  const token = provider.config?.['id-token'] ?? provider.config?.['access-token'];
  if (token) return bearer(token).authorization;
  throw badKubeconfig(
    file,
    `user '${name}' uses the provider '${provider.name}' without a token`,
    'log in with its command again, or use a credential plugin (exec)',
  );
}

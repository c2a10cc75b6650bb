import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readProblem } from '../../files/file-problem.js';
import { decodeText } from '../../files/text-encoding.js';
import { dataDirOf } from '../../gateway/config/access-config.js';
import {
  DEFAULT_POLICY,
  GATEWAY_DEFAULTS,
  type GatewayConfig,
  type LinesConfig,
  type PolicyConfig,
} from '../../gateway/config/gateway-config.js';
import { readGatewayConfig } from '../../gateway/config/read-gateway-config.js';
import { readPolicyFile } from '../../gateway/config/read-policy-file.js';
import { sharedFile } from '../../gateway/errors.js';
import { tracingFromEnvironment } from '../../gateway/telemetry/tracing/traces-url.js';
import { InputError } from '../../kernel/errors.js';
import { policyOptions } from '../../policy/policy-options.js';
import { routingPolicy } from '../../policy/registry.js';
import { absoluteAddress } from '../../store/database/store-address.js';
import { refuseGiven } from '../config/flag-conflicts.js';
import { badValue, conflictingFlags, missingFlag } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { ServeFlags } from './serve-flags.js';

const FLEET_FLAGS = [
  'replica',
  'kube',
  'ray-serve',
  'engine',
  'routing-policy',
  'policy-options',
  'policy-config',
  'block-size',
  'cache-blocks',
] as const;

/** What a policy file sets itself. */
const POLICY_FLAGS = ['routing-policy', 'policy-options', 'block-size', 'cache-blocks'] as const;

/**
 * The configuration of flags and file, complete and checked. Flags win over the file.
 * @param warn called with a line for each setting that has no effect
 */
export function gatewayConfig(flags: FlagValues<ServeFlags>, warn: (line: string) => void): GatewayConfig {
  const { values } = flags;
  const config = values.config === null ? fromFlags(flags, warn) : fromFile(flags, values.config, warn);
  if (config.endpoints.length === 0 && values.config !== null && (values.store ?? config.store) === null) {
    const hint = 'name the replicas, or the store of resources, in the file';
    throw missingFlag('--replica', 'is required', hint);
  }
  const given = <Value>(name: keyof ServeFlags & string, value: Value, other: Value) =>
    values.config === null || flags.given(name) ? value : other;
  const complete: GatewayConfig = {
    ...config,
    listen: {
      ...config.listen,
      host: values.host ?? config.listen.host,
      port: given('port', values.port, config.listen.port),
    },
    admin: { ...config.admin, port: given('admin-port', values['admin-port'], config.admin.port) },
    drainMs: given('drain', values.drain * 1000, config.drainMs),
    decisionLog: values['decision-log'] ?? config.decisionLog,
    record: linesOf(recordPath(values.record), config.limits) ?? config.record,
    accessLog: linesOf(values['access-log'], config.limits) ?? config.accessLog,
    ...storeOf(values.store, values['data-dir'], config),
    leaderLease: values['leader-lease'] ?? config.leaderLease,
    tracing: config.tracing ?? tracingFromEnvironment(process.env),
    seed: given('seed', values.seed, config.seed),
  };
  if (complete.leaderLease !== null && complete.store === null) {
    const hint = 'leave it out, or name a store as well (--store)';
    throw conflictingFlags('--leader-lease', 'is given without a control plane', hint);
  }
  refuseSharedFiles(complete);
  return complete;
}

/** Two that write to one file would tear each other's lines. */
function refuseSharedFiles({ accessLog, decisionLog, record }: GatewayConfig): void {
  const named: [what: string, path: string | null][] = [
    ['record', record?.path ?? null],
    ['access_log', accessLog === null || accessLog.path === '-' ? null : accessLog.path],
    ['decision_log', decisionLog],
  ];
  const files = new Map<string, string>();
  for (const [what, path] of named) {
    if (path === null) continue;
    const other = files.get(resolve(path));
    if (other !== undefined) throw sharedFile(path, other, what);
    files.set(resolve(path), what);
  }
}

function recordPath(path: string | null): string | null {
  if (path === '-') throw badValue('--record', path, 'is not a file', 'a path such as traffic.jsonl');
  return path;
}

function linesOf(path: string | null, { logBytes, logFiles }: GatewayConfig['limits']): LinesConfig | null {
  return path === null ? null : { path, maxBytes: logBytes, files: logFiles };
}

/**
 * A store that is named on the command line requires API keys. Without replicas and without a store, the store in the data folder
 * is used: replicas then come from resources.
 */
function storeOf(
  address: string | null,
  folder: string | null,
  config: GatewayConfig,
): Pick<GatewayConfig, 'store' | 'dataDir' | 'access'> {
  const { access, endpoints, store } = config;
  const given = folder === null ? null : resolve(folder);
  if (address === null && store === null && endpoints.length === 0) {
    const dataDir = given ?? resolve(config.dataDir);
    return { access, dataDir, store: resolve(dataDir, 'twinyard.db') };
  }
  if (address === null && store === null && given !== null) {
    const hint = 'leave it out, or name a store as well (--store)';
    throw conflictingFlags('--data-dir', 'is given for replicas without a store, which keep nothing', hint);
  }
  if (address === null) return { access, dataDir: given ?? config.dataDir, store };
  const named = absoluteAddress(address, process.cwd());
  return { access: { ...access, keys: 'required' }, dataDir: given ?? dataDirOf(named), store: named };
}

function fromFlags(flags: FlagValues<ServeFlags>, warn: (line: string) => void): GatewayConfig {
  const { values } = flags;
  const policy = policyFromFlags(flags, warn);
  const replicas = values.replica.map((url) => ({ id: new URL(url).host, url, engine: values.engine, models: null }));
  const twice = replicas.find(({ id }, i) => replicas.findIndex((other) => other.id === id) !== i);
  if (twice !== undefined) throw badValue('--replica', twice.url, 'is given twice', 'each replica once');
  const { engine, kube, 'ray-serve': rayServe } = values;
  if (kube !== null && rayServe !== null) {
    const hint = 'keep one of them, or give each an endpoint of its own in a file (--config)';
    throw conflictingFlags('--ray-serve', 'is given beside --kube', hint);
  }
  const sources = {
    ...(kube === null ? {} : { kube: { target: kube, engine } }),
    ...(rayServe === null ? {} : { rayServe: { target: rayServe, engine } }),
  };
  const isEmpty = replicas.length === 0 && kube === null && rayServe === null;
  return { ...GATEWAY_DEFAULTS, endpoints: isEmpty ? [] : [{ name: 'default', policy, replicas, ...sources }] };
}

function fromFile(flags: FlagValues<ServeFlags>, path: string, warn: (line: string) => void): GatewayConfig {
  refuseGiven(flags, FLEET_FLAGS, `${path} sets the replicas and their policies`, 'keep one of them');
  return readGatewayConfig(textOf('--config', path), path, warn);
}

function policyFromFlags(flags: FlagValues<ServeFlags>, warn: (line: string) => void): PolicyConfig {
  const { values } = flags;
  const path = values['policy-config'];
  if (path !== null) {
    refuseGiven(flags, POLICY_FLAGS, `${path} sets the policy`, 'write it into the file, or leave out --policy-config');
    return readPolicyFile(textOf('--policy-config', path), path, warn);
  }
  const policy: PolicyConfig = {
    ...DEFAULT_POLICY,
    name: values['routing-policy'],
    options: values['policy-options'],
    blockSize: values['block-size'],
    cacheBlocks: values['cache-blocks'],
  };
  policyOptions(routingPolicy(policy.name), policy.options, '--policy-options');
  return policy;
}

function textOf(flag: string, path: string): string {
  try {
    return decodeText(readFileSync(path), path);
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw badValue(flag, path, readProblem(error), 'the path of a readable file');
  }
}

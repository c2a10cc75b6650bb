import { extraArgs } from '../extra-args.js';
import type { ClusterSpec } from '../kinds/cluster.js';
import type { EndpointSpec } from '../kinds/endpoint.js';
import type { EngineVersion } from '../kinds/engine.js';
import { isHostPath } from './host-path.js';
import { markedVariables } from './marked-variables.js';

/** A field of an endpoint that only an admin may set. */
export interface PrivilegedPart {
  readonly path: string;
  readonly problem: string;
  readonly hint: string;
}

/** The parts of an endpoint that decide which code its replicas run, with which files and settings. */
export type RunParts = Pick<
  EndpointSpec,
  'engine' | 'model' | 'cluster' | 'variables' | 'env' | 'secret_env' | 'json_patches'
>;

/**
 * What in an endpoint needs an admin: environment variables that its engine does not allow, variables that its engine marks, and a
 * model that is a path of the machine.
 * @param cluster null when it does not exist
 */
export function privilegedParts(spec: RunParts, engine: EngineVersion, cluster: ClusterSpec | null): PrivilegedPart[] {
  const parts: PrivilegedPart[] = [];
  const allowed = engine.allowed_env;
  const hint = `ask an admin, or use one of those that the engine allows: ${allowed.join(', ') || 'none'}`;
  for (const key of ['env', 'secret_env'] as const) {
    for (const name of Object.keys(spec[key])) {
      if (isAllowed(name, allowed)) continue;
      parts.push({ path: `spec.${key}.${name}`, problem: 'needs the role admin in every workspace', hint });
    }
  }
  const { name, registry } = spec.model;
  if (registry === undefined && isHostPath(name)) {
    const problem = 'is a path of the machine, which needs the role admin in every workspace';
    parts.push({ path: 'spec.model.name', problem, hint: 'name a model, or a registry that has it' });
  }
  // A resource of an earlier release may lack the field.
  if (spec.json_patches?.length > 0 && cluster?.kubernetes?.json_patches !== 'operator') {
    const problem = 'change what the pod runs and mounts, which needs the role admin in every workspace';
    const help =
      "leave it out, or ask an admin to apply it or to set 'kubernetes.json_patches: operator' in the cluster";
    parts.push({ path: 'spec.json_patches', problem, hint: help });
  }
  if (cluster?.extra_args !== 'operator') {
    for (const extra of extraArgs(engine.parameters, spec.variables)) {
      const problem = "is not in the engine's schema, which needs the role admin in every workspace";
      const help = "leave it out, or ask an admin to apply it or to set 'extra_args: operator' in the cluster";
      parts.push({ path: `spec.variables.${extra}`, problem, hint: help });
    }
  }
  if (cluster?.code_loading === 'operator') return parts;
  for (const { path, reason } of markedVariables(engine.parameters, spec.variables)) {
    const problem = `${reason}, which needs the role admin in every workspace`;
    const help = "leave it out, or ask an admin to apply it or to set 'code_loading: operator' in the cluster";
    parts.push({ path: `spec.variables${path}`, problem, hint: help });
  }
  return parts;
}

const isAllowed = (name: string, allowed: readonly string[]) =>
  allowed.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one));

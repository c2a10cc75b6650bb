import { badKubeTarget } from '../errors.js';

/** Where replicas are found in a cluster. Plain data: it stands in configuration files and flags. */
export interface KubeTarget {
  readonly by: 'selector' | 'service' | 'pool';
  /** A label selector, or a name. */
  readonly value: string;
  /** Null: that of the kubeconfig's context, or of the pod. */
  readonly namespace: string | null;
  /** Numbers or names of ports; several for several ranks in a pod. Empty: the one that the pod or the Service declares. */
  readonly ports: readonly string[];
  readonly kubeconfig: string | null;
  readonly context: string | null;
}

const KINDS = ['selector', 'service', 'pool'] as const;
const OPTIONS = ['namespace', 'port', 'kubeconfig', 'context'] as const;
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const PORT = /^([1-9]\d{0,4}|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$/;

/**
 * Reads `selector=app=vllm,namespace=prod,port=8000`. Selectors have commas too: a part without one of the names above belongs
 * to what is before it.
 */
export function readKubeTarget(text: string): KubeTarget {
  const parts = new Map<string, string>();
  let last = '';
  for (const piece of text.split(',')) {
    const name = /^([a-z]+)=/.exec(piece)?.[1] ?? '';
    const isPart = ([...KINDS, ...OPTIONS] as string[]).includes(name);
    if (!isPart && last !== 'selector') throw badKubeTarget(text, `'${piece}' is not a part of a target`);
    if (isPart && parts.has(name)) throw badKubeTarget(text, `has ${name} twice`);
    if (isPart) last = name;
    parts.set(last, isPart ? piece.slice(name.length + 1) : `${parts.get(last)},${piece}`);
  }
  const kinds = KINDS.filter((kind) => parts.has(kind));
  const [by] = kinds;
  if (by === undefined) throw badKubeTarget(text, 'does not say what to look for');
  if (kinds.length > 1) throw badKubeTarget(text, `has both ${kinds.join(' and ')}`);
  const target: KubeTarget = {
    by,
    value: parts.get(by)!.trim(),
    namespace: parts.get('namespace') ?? null,
    ports: parts.get('port')?.split('+') ?? [],
    kubeconfig: parts.get('kubeconfig') ?? null,
    context: parts.get('context') ?? null,
  };
  const problem = targetProblem(target);
  if (problem !== null) throw badKubeTarget(text, problem);
  return target;
}

/** What is wrong with a target; null when nothing is. */
export function targetProblem({ by, namespace, ports, value }: KubeTarget): string | null {
  if (value === '') return `${by} is empty`;
  if (by !== 'selector' && !NAME.test(value)) return `'${value}' is not a name in Kubernetes`;
  if (namespace !== null && !NAME.test(namespace)) return `'${namespace}' is not a namespace`;
  const wrong = ports.find((port) => !PORT.test(port) || Number(port) > 65_535);
  if (wrong !== undefined) return `'${wrong}' is not a port`;
  if (by === 'pool' && ports.length > 0) return 'a pool declares its ports itself';
  return null;
}

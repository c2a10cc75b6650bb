import { readFileSync } from 'node:fs';
import type { Document, LineCounter, Node, YAMLMap } from 'yaml';
import { InputError } from '../kernel/errors.js';
import { knownNames } from '../kernel/nearest-name.js';
import { readProblem } from '../workload/input-file.js';

/** The policies of a cluster as a file, keys as written there. What is absent was not said. */
export interface PolicyBundle {
  admission: {
    policy?: string;
    token_bucket_capacity?: number;
    token_bucket_refill_rate?: number;
    tier_shed_threshold?: number;
    tier_shed_min_priority?: number;
    gaie_qd_threshold?: number;
    gaie_kv_threshold?: number;
    slo_priorities?: Record<string, number>;
    /** Microseconds by class. */
    slo_targets?: Record<string, number>;
  };
  routing: { policy?: string; scorers?: { name: string; weight: number }[]; options?: Record<string, unknown> };
  scheduler?: string;
  preemption: { policy?: string };
  /** Tenant to its share of the cluster's seats. */
  tenant_budgets: Record<string, number>;
  /** What was read but has no effect: lines for people. */
  warnings: string[];
  /** Where a key stands, for what is found wrong later: `policies.yaml:3:11 (admission.policy)`. */
  place(path: string): string;
}

interface Bounds {
  min: number;
  max: number;
  whole?: boolean;
}
type Kind = 'text' | 'options' | Bounds | { each: Kind } | { list: Keys } | { keys: Keys };
interface Keys {
  readonly [key: string]: Kind;
}

const ANY_NUMBER: Bounds = { min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY };
const BUNDLE: Keys = {
  admission: {
    keys: {
      policy: 'text',
      token_bucket_capacity: ANY_NUMBER,
      token_bucket_refill_rate: ANY_NUMBER,
      tier_shed_threshold: ANY_NUMBER,
      tier_shed_min_priority: ANY_NUMBER,
      gaie_qd_threshold: ANY_NUMBER,
      gaie_kv_threshold: ANY_NUMBER,
      slo_priorities: { each: { min: -100, max: 100, whole: true } },
      slo_targets: { each: { min: 1, max: Number.MAX_SAFE_INTEGER, whole: true } },
    },
  },
  routing: { keys: { policy: 'text', scorers: { list: { name: 'text', weight: ANY_NUMBER } }, options: 'options' } },
  priority: { keys: { policy: 'text' } },
  scheduler: 'text',
  preemption: { keys: { policy: 'text' } },
  tenant_budgets: { each: { min: 0, max: 1 } },
};
/** Parts of the format that describe fleets that change while they run. */
const UNSUPPORTED = ['node_pools', 'autoscaler', 'instance_lifecycle'];

/** Reads a file of policies. Every key must be known: a misspelt one would otherwise be ignored in silence. */
export async function readPolicyBundle(file: string): Promise<PolicyBundle> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new InputError('BUNDLE_UNREADABLE', file, readProblem(error), 'give a YAML file that exists and may be read');
  }
  return parsePolicyBundle(text, file);
}

export async function parsePolicyBundle(text: string, file: string): Promise<PolicyBundle> {
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: lines });
  const syntax = document.errors[0];
  if (syntax?.code === 'MULTIPLE_DOCS') {
    const place = at(file, lines, syntax.pos[0]);
    throw new InputError(
      'BUNDLE_MALFORMED',
      place,
      'a second YAML document starts here',
      'keep one document in the file',
    );
  }
  if (syntax !== undefined) {
    const problem = syntax.message.split(/ at line |\n/)[0]!;
    throw new InputError('BUNDLE_MALFORMED', at(file, lines, syntax.pos[0]), problem, 'write plain YAML');
  }
  const top = document.contents;
  if (!yaml.isMap(top)) {
    throw new InputError('BUNDLE_EMPTY', file, 'holds no keys', `known: ${Object.keys(BUNDLE).join(', ')}`);
  }
  const places = new Map<string, string>();
  new BundleCheck(yaml, document, file, lines, places).keys(top, BUNDLE, '');

  const content = document.toJS() as Partial<PolicyBundle> & { priority?: unknown };
  const place = (path: string) => places.get(path) ?? `${file} (${path})`;
  const ignored = `${place('priority')}: the 'priority' section has no effect; priorities come from SLO classes`;
  return {
    admission: content.admission ?? {},
    routing: content.routing ?? {},
    ...(content.scheduler == null ? {} : { scheduler: content.scheduler }),
    preemption: content.preemption ?? {},
    tenant_budgets: content.tenant_budgets ?? {},
    warnings: content.priority === undefined ? [] : [ignored],
    place,
  };
}

function at(file: string, lines: LineCounter, offset: number, path?: string): string {
  const { line, col } = lines.linePos(offset);
  return `${file}:${line}:${col}${path === undefined ? '' : ` (${path})`}`;
}

/** Walks over the parsed file, notes where everything stands and refuses what does not belong there. */
class BundleCheck {
  constructor(
    readonly yaml: typeof import('yaml'),
    readonly document: Document,
    readonly file: string,
    readonly lines: LineCounter,
    readonly places: Map<string, string>,
  ) {}

  keys(map: YAMLMap<unknown, unknown>, known: Keys | Kind, parent: string): void {
    const each = typeof known === 'object' && 'each' in known ? (known.each as Kind) : undefined;
    for (const pair of map.items) {
      const key = pair.key as Node;
      const name = this.yaml.isScalar(key) ? String(key.value) : String(key);
      const path = parent === '' ? name : `${parent}.${name}`;
      const here = at(this.file, this.lines, key.range![0], path);
      if (parent === '' && UNSUPPORTED.includes(name)) {
        throw new InputError(
          'BUNDLE_UNSUPPORTED',
          here,
          `'${name}' is not supported`,
          'remove it: the fleet has a fixed size',
        );
      }
      const kind = each ?? (Object.hasOwn(known as Keys, name) ? (known as Keys)[name] : undefined);
      if (kind === undefined) {
        throw new InputError('BUNDLE_UNKNOWN_KEY', here, `unknown key '${name}'`, knownNames(name, Object.keys(known)));
      }
      this.value(pair.value as Node | null, kind, path, key.range![0]);
    }
  }

  value(given: Node | null, kind: Kind, path: string, keyOffset: number): void {
    const here = at(this.file, this.lines, given?.range?.[0] ?? keyOffset, path);
    this.places.set(path, here);
    const node = this.yaml.isAlias(given) ? given.resolve(this.document) : given;
    const value = this.yaml.isScalar(node) ? node.value : undefined;
    const refuse = (problem: string, remedy: string) => new InputError('BUNDLE_BAD_VALUE', here, problem, remedy);
    if (kind === 'text') {
      if (typeof value !== 'string' || value === '') throw refuse('is not a name', 'give one name');
    } else if (kind === 'options') {
      if (!this.yaml.isMap(node)) throw refuse('is not a map', 'give options as name: value');
    } else if ('list' in kind) {
      if (!this.yaml.isSeq(node))
        throw refuse('is not a list', `give a list of {${Object.keys(kind.list).join(', ')}}`);
      node.items.forEach((item, i) => {
        this.value(item as Node, { keys: kind.list }, `${path}[${i}]`, keyOffset);
        const absent = Object.keys(kind.list).find((key) => !(item as YAMLMap).has(key));
        if (absent !== undefined) {
          const itemPlace = this.places.get(`${path}[${i}]`)!;
          throw new InputError('BUNDLE_BAD_VALUE', itemPlace, `has no ${absent}`, `give it as ${absent}: ...`);
        }
      });
    } else if ('min' in kind) {
      this.number(value, kind, refuse);
    } else {
      const wanted = 'keys' in kind ? `give its keys: ${Object.keys(kind.keys).join(', ')}` : 'give it as name: value';
      if (!this.yaml.isMap(node)) throw refuse('is not a map', wanted);
      this.keys(node, 'keys' in kind ? kind.keys : kind, path);
    }
  }

  number(value: unknown, { min, max, whole }: Bounds, refuse: (problem: string, remedy: string) => Error): void {
    const noun = whole ? 'a whole number' : 'a number';
    const wanted = min === Number.NEGATIVE_INFINITY ? `give ${noun}` : `give ${noun} from ${min} to ${max}`;
    if (typeof value !== 'number' || !Number.isFinite(value)) throw refuse(`is not ${noun}`, wanted);
    if (whole && !Number.isInteger(value)) throw refuse(`${value} is not ${noun}`, wanted);
    if (value < min || value > max) throw refuse(`${value} is out of range`, wanted);
  }
}

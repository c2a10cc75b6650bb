import { FLOW_CONTROL_SCHEMA } from '../../policy/bundle/flow-control-schema.js';
import { admissionPolicy, routingPolicy } from '../../policy/registry.js';
import { DEFAULT_SCORERS } from '../../policy/routing/weighted.js';
import { parseScorers } from '../../policy/scoring/parse-scorers.js';
import { SCORERS } from '../../policy/scoring/registry.js';
import { choicesOf, factsOf, requirementsOf, type Schema, type SearchRange } from '../../schema/facts.js';
import type { PolicySet } from './policy-set.js';

/** What `tune` may vary; `routing` is the choice of the policy and its options. */
export const KNOB_GROUPS = ['routing', 'admission', 'queue'] as const;
export type KnobGroup = (typeof KNOB_GROUPS)[number];

/** One setting of a set of policies that may take other values. */
export interface Knob {
  /** `load_factor`, `weight of queue-depth`, `queue max_concurrency`. */
  name: string;
  /** The names to choose from, or null for a number within `range`. */
  choices: readonly string[] | null;
  range: SearchRange;
  isWhole: boolean;
  /** The value in this set, the default where it sets none. */
  value: number | string;
  standard: number | string;
  with(value: number | string): PolicySet;
}

/** A scorer with weight 0 is left out. */
const WEIGHTS: SearchRange = { from: 0, to: 5 };
const NO_RANGE: SearchRange = { from: 0, to: 0 };

/** The knobs of a set of policies: the options of its own policies, as far as their schemas name a range to search. */
export function knobsOf(set: PolicySet, groups: readonly KnobGroup[]): Knob[] {
  const knobs: Knob[] = [];
  if (groups.includes('routing')) {
    const { policy, options } = set.routing;
    const withRouting = (changed: Record<string, unknown>) => ({ ...set, routing: { policy, options: changed } });
    knobs.push(...optionKnobs('', routingPolicy(policy).options, options, withRouting));
    if (policy === 'weighted') knobs.push(...weightKnobs(set));
  }
  if (groups.includes('admission')) {
    const { policy, options } = set.admission;
    const withAdmission = (changed: Record<string, unknown>) => ({ ...set, admission: { policy, options: changed } });
    knobs.push(...optionKnobs(`${policy} `, admissionPolicy(policy).options, options, withAdmission));
  }
  const { flowControl } = set;
  if (groups.includes('queue') && flowControl !== null) {
    const withQueue = (changed: Record<string, unknown>) => ({ ...set, flowControl: changed });
    knobs.push(
      ...optionKnobs('queue ', FLOW_CONTROL_SCHEMA.entries, flowControl as Record<string, unknown>, withQueue),
    );
  }
  return knobs;
}

function optionKnobs(
  prefix: string,
  schemas: unknown,
  options: Readonly<Record<string, unknown>>,
  withOptions: (options: Record<string, unknown>) => PolicySet,
): Knob[] {
  return Object.entries(schemas as Record<string, Schema & { default?: unknown }>).flatMap(([name, schema]) => {
    const { search } = factsOf(schema);
    if (search === undefined) return [];
    const standard = schema.default as number | string;
    return {
      name: `${prefix}${name}`,
      choices: choicesOf(schema),
      range: search === true ? NO_RANGE : search,
      isWhole: requirementsOf(schema).has('integer'),
      value: (options[name] as number | string | undefined) ?? standard,
      standard,
      with: (value: number | string) => {
        const { [name]: _, ...others } = options;
        return withOptions(value === standard ? others : { ...others, [name]: value });
      },
    };
  });
}

/** One knob for each scorer. The weights of the others stay as they are. */
function weightKnobs(set: PolicySet): Knob[] {
  const given = (set.routing.options.scorers as string | undefined) ?? DEFAULT_SCORERS;
  const weights = new Map(parseScorers(given, 'scorers').map(({ name, weight }) => [name, weight]));
  const standard = new Map(parseScorers(DEFAULT_SCORERS, 'scorers').map(({ name, weight }) => [name, weight]));
  return SCORERS.map(({ name }) => ({
    name: `weight of ${name}`,
    choices: null,
    range: WEIGHTS,
    isWhole: false,
    value: weights.get(name) ?? 0,
    standard: standard.get(name) ?? 0,
    with: (weight: number | string) => withWeights(set, new Map([...weights, [name, Number(weight)]])),
  }));
}

/** A set without any weight keeps the default scorers: no scorer at all is no policy. */
function withWeights(set: PolicySet, weights: ReadonlyMap<string, number>): PolicySet {
  const scorers = SCORERS.flatMap(({ name }) => {
    const weight = weights.get(name) ?? 0;
    return weight > 0 ? [`${name}:${weight}`] : [];
  }).join(',');
  const { scorers: _, ...options } = set.routing.options;
  const isDefault = scorers === '' || scorers === DEFAULT_SCORERS;
  return { ...set, routing: { ...set.routing, options: isDefault ? options : { ...options, scorers } } };
}

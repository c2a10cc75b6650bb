import type { RandomStream } from '../../kernel/random-stream.js';
import { ADMISSION_POLICIES, ROUTING_POLICIES } from '../../policy/registry.js';
import { type Knob, type KnobGroup, knobsOf } from './knobs.js';
import { type PolicySet, policySetName } from './policy-set.js';

/** `given`: as the command line has it; `untuned`: a policy with its defaults. */
export type SetOrigin = 'given' | 'untuned' | 'sampled' | 'refined';

export interface TuneCandidate {
  /** Tells sets apart: equal sets have equal names. */
  name: string;
  origin: SetOrigin;
  policies: PolicySet;
}

/** Policies that show faults, and one that serves nothing. */
const NOT_TO_SERVE = ['always-busiest', 'reject-all'];
/** How often a sampled candidate keeps the given admission or queue. */
const KEEP = 0.5;
/** How often a scorer is left out of a drawn mix. */
const LEFT_OUT = 0.6;

/** The given policies, and every other routing policy with its defaults: what a choice without tuning could be. */
export function untunedCandidates(
  given: PolicySet,
  groups: readonly KnobGroup[],
  policies: readonly string[],
): TuneCandidate[] {
  const found = new Map([[policySetName(given), candidate(given, 'given')]]);
  for (const { name } of ROUTING_POLICIES) {
    if (!groups.includes('routing') || NOT_TO_SERVE.includes(name)) continue;
    if (policies.length > 0 && !policies.includes(name)) continue;
    const set = { ...given, routing: { policy: name, options: {} } };
    if (!found.has(policySetName(set))) found.set(policySetName(set), candidate(set, 'untuned'));
  }
  return [...found.values()];
}

/** Up to `count` sets that are not known yet, drawn around the untuned ones in turn. */
export function sampleCandidates(
  untuned: readonly TuneCandidate[],
  groups: readonly KnobGroup[],
  count: number,
  known: ReadonlySet<string>,
  random: RandomStream,
): TuneCandidate[] {
  const bases = untuned.filter(({ policies }) => groups.length > 1 || knobsOf(policies, groups).length > 0);
  return distinct(count, known, 'sampled', (i) => {
    if (bases.length === 0) return null;
    let set = withOtherParts(bases[i % bases.length]!.policies, groups, random);
    const names = knobsOf(set, groups).map(({ name }) => name);
    for (const name of names) {
      const knob = knobsOf(set, groups).find((one) => one.name === name);
      if (knob !== undefined) set = knob.with(draw(knob, random));
    }
    return set;
  });
}

/** Up to `count` neighbours of the best sets: one or two knobs moved a little. */
export function refineCandidates(
  best: readonly TuneCandidate[],
  groups: readonly KnobGroup[],
  count: number,
  known: ReadonlySet<string>,
  random: RandomStream,
): TuneCandidate[] {
  const bases = best.filter(({ policies }) => knobsOf(policies, groups).length > 0);
  return distinct(count, known, 'refined', (i) => {
    if (bases.length === 0) return null;
    let set = bases[i % bases.length]!.policies;
    const moves = 1 + random.below(2);
    for (let moved = 0; moved < moves; moved++) {
      const knobs = knobsOf(set, groups);
      const knob = knobs[random.below(knobs.length)]!;
      set = knob.with(nearby(knob, random));
    }
    return set;
  });
}

function candidate(policies: PolicySet, origin: SetOrigin): TuneCandidate {
  return { name: policySetName(policies), origin, policies };
}

/** Draws until there are enough sets, or the space seems to be used up. */
function distinct(
  count: number,
  known: ReadonlySet<string>,
  origin: SetOrigin,
  next: (i: number) => PolicySet | null,
): TuneCandidate[] {
  const found = new Map<string, TuneCandidate>();
  for (let i = 0; found.size < count && i < 20 * count; i++) {
    const set = next(i);
    if (set === null) break;
    const one = candidate(set, origin);
    if (!known.has(one.name)) found.set(one.name, one);
  }
  return [...found.values()];
}

/** Another admission policy or a queue, now and then. */
function withOtherParts(set: PolicySet, groups: readonly KnobGroup[], random: RandomStream): PolicySet {
  let { admission, flowControl } = set;
  if (groups.includes('admission') && random.next() >= KEEP) {
    const all = ADMISSION_POLICIES.filter(({ name, options }) => {
      const knobs = knobsOf({ ...set, admission: { policy: name, options: {} } }, ['admission']);
      return !NOT_TO_SERVE.includes(name) && (knobs.length > 0 || Object.keys(options as object).length === 0);
    });
    admission = { policy: all[random.below(all.length)]!.name, options: {} };
  }
  if (groups.includes('queue') && random.next() >= KEEP) flowControl = flowControl === null ? {} : null;
  return { ...set, admission, flowControl };
}

function draw(knob: Knob, random: RandomStream): number | string {
  if (knob.choices !== null) return knob.choices[random.below(knob.choices.length)]!;
  if (knob.name.startsWith('weight of ') && random.next() < LEFT_OUT) return 0;
  const { from, to, log } = knob.range;
  const share = random.next();
  return rounded(knob, log === true ? from * (to / from) ** share : from + (to - from) * share);
}

function nearby(knob: Knob, random: RandomStream): number | string {
  if (knob.choices !== null) return draw(knob, random);
  const { from, to, log } = knob.range;
  const now = Number(knob.value);
  if (now < from) return draw(knob, random);
  const step = random.next() * 2 - 1;
  return rounded(knob, log === true ? now * 2 ** step : now + step * (to - from) * 0.2);
}

/** Two digits are enough, and stay readable in a file. */
export function rounded({ range: { from, to }, isWhole }: Knob, value: number): number {
  const within = Math.min(to, Math.max(from, value));
  return isWhole ? Math.round(within) : Number(within.toPrecision(2));
}

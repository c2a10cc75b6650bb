import { InputError } from '../kernel/errors.js';
import { knownNames } from '../kernel/text/nearest-name.js';

/** What can be looked up by name in this layer, with the error code for an unknown name. */
const UNKNOWN_CODES = {
  'routing policy': 'UNKNOWN_ROUTING_POLICY',
  'admission policy': 'UNKNOWN_ADMISSION_POLICY',
  scorer: 'UNKNOWN_SCORER',
  'saturation detector': 'UNKNOWN_SATURATION_DETECTOR',
  'dispatch order': 'UNKNOWN_DISPATCH_ORDER',
  'fairness policy': 'UNKNOWN_FAIRNESS_POLICY',
} as const;

export type NamedKind = keyof typeof UNKNOWN_CODES;

export function unknownName(kind: NamedKind, given: string, known: readonly string[], place: string): InputError {
  return new InputError(UNKNOWN_CODES[kind], place, `unknown ${kind} '${given}'`, knownNames(given, known));
}

export function noScorers(place: string): InputError {
  return new InputError('NO_SCORERS', place, 'no scorer is given', 'write at least one name:weight pair');
}

export function duplicateScorer(name: string, place: string): InputError {
  return new InputError('DUPLICATE_SCORER', place, `scorer '${name}' is given twice`, 'name each scorer once');
}

export function missingScorerWeight(name: string, place: string): InputError {
  return new InputError('BAD_SCORER_WEIGHT', place, `scorer '${name}' has no weight`, `write ${name}:1`);
}

export function badScorerWeight(name: string, weight: string, place: string): InputError {
  const problem = `weight '${weight}' of scorer '${name}' is not a positive finite number`;
  return new InputError('BAD_SCORER_WEIGHT', place, problem, `write a weight above 0, for example ${name}:1`);
}

export function unknownOption(policy: string, given: string, known: readonly string[], place: string): InputError {
  const hint = known.length === 0 ? 'it takes no options' : knownNames(given, known);
  return new InputError('UNKNOWN_POLICY_OPTION', place, `'${policy}' has no option '${given}'`, hint);
}

export function badOption(policy: string, problem: string, known: readonly string[], place: string): InputError {
  const hint = known.length === 0 ? `'${policy}' takes no options` : `'${policy}' takes: ${known.join(', ')}`;
  return new InputError('BAD_POLICY_OPTION', place, problem, hint);
}

export function missingSignal(policy: string, signal: string, place: string): InputError {
  const problem = `'${policy}' reads ${signal} with these options, which only a simulation has`;
  return new InputError('MISSING_SIGNAL', place, problem, 'choose other options, or simulate it with run or replay');
}

export function badSloPriority(sloClass: string, priority: number, place: string): InputError {
  const problem = `priority ${priority} of class '${sloClass}' is out of range`;
  return new InputError('BAD_SLO_PRIORITY', place, problem, 'write a whole number from -100 to 100');
}

/** A value in a file that its policy does not accept. */
export function badFileValue(place: string, problem: string, accepted: string): InputError {
  return new InputError('BAD_VALUE', place, problem, `give ${accepted}`);
}

/** A shadow policy that cannot be. */
export function invalidShadow(place: string, problem: string, hint: string): InputError {
  return new InputError('SHADOW_INVALID', place, problem, hint);
}

/** A key of a file that would have no effect. */
export function idleFileKey(place: string, problem: string, hint: string): InputError {
  return new InputError('CONFLICTING_FLAGS', place, problem, hint);
}

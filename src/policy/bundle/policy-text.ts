import { plainWord } from '../../kernel/text/plain-word.js';
import { badOption } from '../errors.js';
import { policyOptions } from '../policy-options.js';
import { routingPolicy } from '../registry.js';
import { scorersOption } from './scorers-option.js';

/** A routing policy in one word. */
export interface PolicyText {
  readonly policy: string;
  /** As `--routing-scorers` takes them; null where the word has none. */
  readonly scorers: string | null;
  readonly options: Readonly<Record<string, unknown>>;
}

/**
 * Reads `chwbl:load_factor=1.5+key=first-message`, or `weighted:queue-depth:1+kv-utilization:2+tie_break=random`: after the name,
 * options and scorers with a plus between them. All of them are checked.
 */
export function parsePolicyText(text: string, place: string): PolicyText {
  const [name, ...rest] = text.split(':');
  const policy = routingPolicy(name!, place);
  if (rest.length === 0) return { policy: name!, scorers: null, options: {} };
  const parts = rest.join(':').split('+');
  const weights = parts.filter((part) => !part.includes('='));
  const scorers = weights.length === 0 ? null : weights.join(',');
  if (scorers !== null) scorersOption(policy, scorers, place, "only 'weighted' takes scorers", () => {});
  const options: Record<string, unknown> = {};
  for (const part of parts.filter((one) => one.includes('='))) {
    const at = part.indexOf('=');
    const option = part.slice(0, at);
    if (Object.hasOwn(options, option))
      throw badOption(name!, `'${option}' is given twice`, Object.keys(policy.options), place);
    options[option] = plainWord(part.slice(at + 1));
  }
  policyOptions(policy, options, place);
  return { policy: name!, scorers, options };
}

import type { InputError } from '../../kernel/errors.js';
import { badVariable } from './errors.js';
import type { PlaceOf } from './kind.js';
import type { EngineVersion } from './kinds/engine.js';
import { variableProblems } from './parameter-schema.js';

type Parameters = EngineVersion['parameters'];

/** The variables that the schema of an engine does not list, and refuses unless the cluster allows them. */
export function extraArgs({ additionalProperties, properties }: Parameters, variables: object): string[] {
  if (additionalProperties !== false) return [];
  return Object.keys(variables).filter((name) => !Object.hasOwn((properties ?? {}) as object, name));
}

const MOST_PROBLEMS = 100;
const NAME = /^[a-z][a-z0-9_-]*$/i;

/** Parsers of command lines complete a beginning that is unique: the mark of the whole name would not hold for it. */
function isAbbreviation(name: string, properties: object): boolean {
  return Object.entries(properties).some(
    ([known, schema]) => known.startsWith(name) && ('x-needs-admin' in schema || 'x-host-path' in schema),
  );
}

/** The same checks as without extra arguments, and that no extra one hides a variable or a flag of the start command. */
export function extraArgProblems(
  { command, parameters }: Pick<EngineVersion, 'command' | 'parameters'>,
  variables: Readonly<Record<string, unknown>>,
  placeOf: PlaceOf,
): InputError[] {
  const { properties = {} } = parameters as { properties?: object };
  const own = new Set(command.filter((part) => typeof part === 'string'));
  const extra = extraArgs(parameters, variables);
  const open = extra.length === 0 ? parameters : { ...parameters, additionalProperties: true };
  const problems = variableProblems(open, variables, placeOf);
  for (const name of extra) {
    if (problems.length >= MOST_PROBLEMS) break;
    const known = name.replaceAll('-', '_');
    const flag = `--${name.replaceAll('_', '-')}`;
    const place = placeOf(`spec.variables.${name}`);
    if (!NAME.test(name)) problems.push(badVariable(place, 'is not a name of a flag', 'as in max_model_len'));
    else if (Object.hasOwn(properties, known)) {
      problems.push(badVariable(place, `is the variable '${known}'`, `write ${known}`));
    } else if (isAbbreviation(known, properties)) {
      problems.push(badVariable(place, 'abbreviates a variable that needs an admin', 'write the whole name'));
    } else if (own.has(flag)) {
      problems.push(badVariable(place, `the start command sets ${flag}`, 'leave it out'));
    }
  }
  return problems;
}

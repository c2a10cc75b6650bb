import type { InputError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/nearest-name.js';
import { invalidField, unknownReference } from './errors.js';
import type { PlaceOf } from './kind.js';
import type { EndpointSpec } from './kinds/endpoint.js';
import type { EngineSpec, EngineVersion } from './kinds/engine.js';
import { variableProblems } from './parameter-schema.js';

/** The version an endpoint runs: the one it names, the engine's choice, or the last one listed. */
export function engineVersion(
  engine: EngineSpec,
  wanted: string | undefined,
): [name: string, version: EngineVersion] | null {
  const name = wanted ?? engine.default_version ?? Object.keys(engine.versions).at(-1)!;
  return Object.hasOwn(engine.versions, name) ? [name, engine.versions[name]!] : null;
}

/** As much of an endpoint as its engine has a say in. */
export interface AskedEngine extends Pick<EndpointSpec, 'engine' | 'variables'> {
  readonly model: Partial<Pick<EndpointSpec['model'], 'task'>>;
}

/**
 * What is wrong with an endpoint given the engine it names: whether the version exists and does the task, and every one of
 * its variables. `engine` is null when there is none of that name; `engines` are those there are.
 */
export function endpointProblems(
  spec: AskedEngine,
  engine: EngineSpec | null,
  engines: readonly string[],
  placeOf: PlaceOf,
): InputError[] {
  const { name, version: wanted } = spec.engine;
  if (engine === null) {
    return [unknownReference(placeOf('spec.engine.name'), `there is no engine '${name}'`, name, engines)];
  }
  const found = engineVersion(engine, wanted);
  if (found === null) {
    const hint = knownNames(wanted!, Object.keys(engine.versions));
    return [invalidField(placeOf('spec.engine.version'), `engine '${name}' has no version '${wanted}'`, hint)];
  }
  const problems = variableProblems(found[1].parameters, spec.variables, placeOf);
  const { tasks } = found[1];
  const { task } = spec.model;
  if (task !== undefined && !tasks.includes(task)) {
    const problem = `engine '${name}' ${found[0]} does no ${task}`;
    problems.push(invalidField(placeOf('spec.model.task'), problem, `give one of ${tasks.join(', ')}`));
  }
  return problems;
}

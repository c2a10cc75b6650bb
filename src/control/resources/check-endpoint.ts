import type { InputError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/text/nearest-name.js';
import { invalidField, unknownReference } from './errors.js';
import type { PlaceOf } from './kind.js';
import type { EndpointSpec } from './kinds/endpoint.js';
import type { EngineSpec, EngineVersion } from './kinds/engine.js';
import { variableProblems } from './parameter-schema.js';

/** The version that an endpoint runs: the one it names, the engine's default, or the last one listed. */
export function engineVersion(
  engine: EngineSpec,
  wanted: string | undefined,
): [name: string, version: EngineVersion] | null {
  const name = wanted ?? engine.default_version ?? Object.keys(engine.versions).at(-1)!;
  return Object.hasOwn(engine.versions, name) ? [name, engine.versions[name]!] : null;
}

/** The part of an endpoint that is checked against its engine. */
export interface EngineUse extends Pick<EndpointSpec, 'engine' | 'variables'> {
  readonly model: Partial<Pick<EndpointSpec['model'], 'task'>>;
}

/**
 * Checks an endpoint against its engine: the version, the task, and every variable.
 * @param engine null when none has that name
 * @param engines the names of all engines
 */
export function endpointProblems(
  spec: EngineUse,
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
    const problem = `engine '${name}' ${found[0]} does not support ${task}`;
    problems.push(invalidField(placeOf('spec.model.task'), problem, `give one of ${tasks.join(', ')}`));
  }
  return problems;
}

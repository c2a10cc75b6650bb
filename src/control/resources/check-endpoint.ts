import type { InputError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/text/nearest-name.js';
import { invalidField, unknownReference } from './errors.js';
import { extraArgProblems } from './extra-args.js';
import { emulatedModelProblems } from './fit/emulated-model.js';
import { gpuShareProblems } from './fit/gpu-shares.js';
import { memoryFitProblems } from './fit/memory-fit.js';
import type { KnownGpu, PlannedUse } from './fit/planned-use.js';
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
  readonly model: Partial<Pick<EndpointSpec['model'], 'name' | 'task'>>;
  readonly resources?: Partial<Pick<EndpointSpec['resources'], 'gpus' | 'product'>>;
  /** Whether its cluster lets it set variables that the engine's schema does not list. */
  readonly hasExtraArgs?: boolean;
  readonly accelerators?: readonly KnownGpu[];
}

/**
 * Checks an endpoint against its engine: the version, the task, every variable, and whether they fit its GPUs.
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
  const [, version] = found;
  const { tasks } = version;
  const problems = spec.hasExtraArgs
    ? extraArgProblems(version, spec.variables, placeOf)
    : variableProblems(version.parameters, spec.variables, placeOf, undefined, (variable) =>
        otherVersions(engine, variable),
      );
  const { task } = spec.model;
  if (task !== undefined && !tasks.includes(task)) {
    const problem = `engine '${name}' ${found[0]} does not support ${task}`;
    problems.push(invalidField(placeOf('spec.model.task'), problem, `give one of ${tasks.join(', ')}`));
  }
  // Arithmetic with values that are not accepted says nothing.
  return problems.length > 0 ? problems : fitProblems(version, spec, placeOf);
}

/** The versions that have a variable which this one does not have. */
function otherVersions({ versions }: EngineSpec, variable: string): string | undefined {
  const having = Object.keys(versions).filter((name) => {
    const { properties } = versions[name]!.parameters as { properties?: object };
    return properties !== undefined && Object.hasOwn(properties, variable);
  });
  return having.length === 0 ? undefined : `leave it out, or name a version that has it: ${having.join(', ')}`;
}

/** Contradictions between the engine's settings, its model and its GPUs, with the numbers. */
function fitProblems(version: EngineVersion, spec: EngineUse, placeOf: PlaceOf): InputError[] {
  const { gpus = 0, product } = spec.resources ?? {};
  const isCount = gpus > 0 && (gpus < 1 || Number.isSafeInteger(gpus));
  const use: PlannedUse = {
    version,
    model: spec.model.name,
    variables: spec.variables,
    gpus: isCount ? gpus : 0,
    product: product ?? null,
    accelerators: spec.accelerators ?? [],
  };
  const shares = gpuShareProblems(use, placeOf);
  if (shares.length > 0) return shares;
  return [...memoryFitProblems(use, placeOf), ...emulatedModelProblems(use, placeOf)];
}

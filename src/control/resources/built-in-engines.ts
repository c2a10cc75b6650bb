import * as v from 'valibot';
import type { LaunchTemplate } from '../../engines/launch.js';
import { LAUNCHABLE_ENGINES, type LaunchableEngine } from '../../engines/registry.js';
import { engine } from './kinds/engine.js';
import { API_VERSION, type Resource } from './resource.js';

export const isBuiltInEngine = (name: string) => LAUNCHABLE_ENGINES.some((one) => one.name === name);

export const BUILT_IN_LABEL = 'twinyard/built-in';

/**
 * The engines that exist without being applied, as Engine resources. They get their defaults, but are not checked as
 * those of users are: compiling the schemas of all their versions would delay every start.
 */
export function builtInEngines(): Resource[] {
  return LAUNCHABLE_ENGINES.map((one) =>
    v.parse(engine.schema, {
      apiVersion: API_VERSION,
      kind: 'Engine',
      metadata: { name: one.name, labels: { [BUILT_IN_LABEL]: 'true' } },
      spec: specOf(one),
    }),
  );
}

function specOf({ capabilities, launch, name, summary }: LaunchableEngine) {
  const versionOf = (template: LaunchTemplate) => ({ ...template, tasks: capabilities.tasks, metrics: name });
  return {
    description: summary,
    default_version: launch.default_version,
    versions: Object.fromEntries(Object.entries(launch.versions).map(([key, one]) => [key, versionOf(one)])),
  };
}

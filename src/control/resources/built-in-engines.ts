import type { LaunchTemplate } from '../../engines/launch.js';
import { LAUNCHABLE_ENGINES, type LaunchableEngine } from '../../engines/registry.js';
import { checkedResource } from './check-resource.js';
import { API_VERSION, type Resource } from './resource.js';

export const isBuiltInEngine = (name: string) => LAUNCHABLE_ENGINES.some((one) => one.name === name);

export const BUILT_IN_LABEL = 'twinyard/built-in';

/** The engines that exist without being applied, as Engine resources. */
export function builtInEngines(): Resource[] {
  return LAUNCHABLE_ENGINES.map((engine) =>
    checkedResource(
      {
        apiVersion: API_VERSION,
        kind: 'Engine',
        metadata: { name: engine.name, labels: { [BUILT_IN_LABEL]: 'true' } },
        spec: specOf(engine),
      },
      (path) => `built-in engine ${engine.name} (${path})`,
    ),
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

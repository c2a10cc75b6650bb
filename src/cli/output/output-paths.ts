import type { ClusterFlags } from '../flags/cluster-flags.js';
import type { FlagValues } from '../flags/flag.js';
import type { InstanceFlags } from '../flags/instance-flags.js';
import type { OutputFlags } from '../flags/output-flags.js';
import type { NamedPath } from './output-files.js';

/** The files of a trace that is named by what they share. */
export function traceFiles(prefix: string): { header: string; data: string } {
  return { header: `${prefix}.yaml`, data: `${prefix}.csv` };
}

/** Every output file that the flags name. */
export function outputPaths({ values }: FlagValues<OutputFlags>): NamedPath[] {
  const paths: NamedPath[] = [];
  for (const name of ['metrics-path', 'results-path', 'decisions-path', 'saturation-report'] as const) {
    const path = values[name];
    if (path !== null) paths.push({ flag: `--${name}`, path });
  }
  const prefix = values['trace-output'];
  if (prefix !== null) {
    const { header, data } = traceFiles(prefix);
    paths.push({ flag: '--trace-output', path: header }, { flag: '--trace-output', path: data });
  }
  return paths;
}

/** Files that both `run` and `replay` may read. */
export function engineInputs({ values }: FlagValues<ClusterFlags & InstanceFlags>): NamedPath[] {
  const paths: NamedPath[] = [];
  for (const name of ['policy-config', 'hardware-config'] as const) {
    const path = values[name];
    if (path !== null) paths.push({ flag: `--${name}`, path });
  }
  return paths;
}

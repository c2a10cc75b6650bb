import type { RunnerOptions, RunnerType } from '../runner-type.js';

export const localType = {
  name: 'local',
  summary: 'processes on this machine',
  builtInCluster: 'local',
  runsHere: true,
  async open({ folder, onFault, scrub, settings, user }: RunnerOptions) {
    const { LocalRunner } = await import('./local-runner.js');
    const runner = await LocalRunner.open({ folder, onFault, scrub, user });
    runner.configure(settings);
    return runner;
  },
} as const satisfies RunnerType;

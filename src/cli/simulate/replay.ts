import { summaryOf } from '../commands.js';
import { checkConflicts } from '../config/flag-conflicts.js';
import { checkReplayWorkload, replayClient, traceInputs } from '../config/replay-workload.js';
import type { SimulationFlags } from '../config/resolve-cluster.js';
import { createDiagnostics, SILENT } from '../diagnostics.js';
import { clusterFlags } from '../flags/cluster-flags.js';
import type { CommandLine } from '../flags/command-line.js';
import { flowControlFlags } from '../flags/flow-control-flags.js';
import { instanceFlags } from '../flags/instance-flags.js';
import { outputFlags } from '../flags/output-flags.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type ReplayWorkloadFlags, replayWorkloadFlags } from '../flags/replay-workload-flags.js';
import type { CliIo } from '../io.js';
import { checkOutputs } from '../output/output-files.js';
import { engineInputs, outputPaths } from '../output/output-paths.js';

export const REPLAY: CommandLine = {
  name: 'replay',
  summary: summaryOf('replay'),
  about:
    "Use it to try another policy or fleet on recorded traffic: the trace is one of 'run --trace-output', 'observe', a gateway's recording, or of a published format.",
  groups: [
    { title: 'Cluster', flags: clusterFlags },
    { title: 'Flow control', flags: flowControlFlags },
    { title: 'Instance', flags: instanceFlags },
    { title: 'Workload', flags: replayWorkloadFlags },
    { title: 'Output', flags: outputFlags },
  ],
  examples: [
    'run --model qwen/qwen3-14b --rate 8 --num-requests 1000 --trace-output morning',
    'replay --trace morning --model qwen/qwen3-14b --num-instances 4 --routing-policy least-loaded --format table',
    'replay --trace-header morning.yaml --trace-data morning.csv --model qwen/qwen3-14b --metrics-path result.json',
    'replay --trace-data morning.csv --model qwen/qwen3-14b --num-instances 8 --block-size-in-tokens 64',
  ],
};

export async function replay(argv: readonly string[], io: CliIo): Promise<number> {
  const flags = await parseFlags<SimulationFlags & ReplayWorkloadFlags>(REPLAY, argv);
  if (flags.values.decisions !== null) {
    const { replayDecisions } = await import('./replay-decisions.js');
    return replayDecisions(flags.values.decisions, flags, io);
  }
  checkConflicts(flags);
  const paths = checkReplayWorkload(flags);
  checkOutputs(outputPaths(flags), [...traceInputs(paths), ...engineInputs(flags)]);
  const diagnostics = createDiagnostics(flags.values.log, io);
  const [
    { resolveCluster, withHeaderTargets },
    { readReplayWorkload },
    { withServerSettings },
    { warnOfAbsentClasses, warnOfForeignModels },
    { simulateCommand },
  ] = await Promise.all([
    import('../config/resolve-cluster.js'),
    import('../config/read-replay-workload.js'),
    import('../config/server-settings.js'),
    import('../config/workload-warnings.js'),
    import('./simulate-command.js'),
  ]);
  const read = await readReplayWorkload(flags, paths, diagnostics, replayClient(flags));
  const { workload, facts, header, maxInFlight } = read;
  for (const note of read.clientNotes) diagnostics.warn(`${paths.data.path}: ${note}`);
  const { config, latency } = await resolveCluster(withServerSettings(flags, header, diagnostics), diagnostics);
  warnOfForeignModels(workload.table, config.replica.model, paths.data.path, diagnostics);
  warnOfAbsentClasses(flags, workload, diagnostics);
  const goodputTargets = withHeaderTargets(config.goodputTargets, header.goodputTargets);
  const traceFacts = { mode: 'replayed', workloadSeed: header.workloadSeed, goodputTargets } as const;
  const capped = maxInFlight === undefined ? config : { ...config, maxInFlight };
  const cluster = { config: { ...capped, goodputTargets }, latency };
  const again = async () => (await readReplayWorkload(flags, paths, SILENT, replayClient(flags))).workload;
  return simulateCommand({ flags, diagnostics, cluster, workload, facts, traceFacts, again }, io);
}

import { summaryOf } from '../commands.js';
import { checkConflicts } from '../config/flag-conflicts.js';
import type { SimulationFlags } from '../config/resolve-cluster.js';
import { checkRunWorkload, workloadInputs } from '../config/run-workload.js';
import { createDiagnostics, SILENT } from '../diagnostics.js';
import { clusterFlags } from '../flags/cluster-flags.js';
import type { CommandLine } from '../flags/command-line.js';
import { flowControlFlags } from '../flags/flow-control-flags.js';
import { instanceFlags } from '../flags/instance-flags.js';
import { outputFlags } from '../flags/output-flags.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type RunWorkloadFlags, runWorkloadFlags } from '../flags/run-workload-flags.js';
import type { CliIo } from '../io.js';
import { checkOutputs } from '../output/output-files.js';
import { engineInputs, outputPaths } from '../output/output-paths.js';

export const RUN: CommandLine = {
  name: 'run',
  summary: summaryOf('run'),
  about:
    'Use it to predict latency, throughput and goodput of a fleet before it exists: requests are generated from the workload flags, a preset or a specification, and the same command prints the same bytes again.',
  groups: [
    { title: 'Cluster', flags: clusterFlags },
    { title: 'Flow control', flags: flowControlFlags },
    { title: 'Instance', flags: instanceFlags },
    { title: 'Workload', flags: runWorkloadFlags },
    { title: 'Output', flags: outputFlags },
  ],
  examples: [
    'run --model qwen/qwen3-14b --num-instances 4 --rate 100 --num-requests 500 --routing-policy weighted --format table',
    'run --model qwen/qwen3-14b --num-instances 4 --rate 500 --num-requests 2000 --admission-policy token-bucket',
    'run --model meta-llama/llama-3.1-8b-instruct --workload chatbot --concurrency 32 --slo-ttft default=200ms',
    'run --model qwen/qwen3-14b --num-instances 4 --workload mixed-slo --num-requests 500 --routing-policy weighted --format table',
  ],
};

export async function run(argv: readonly string[], io: CliIo): Promise<number> {
  const flags = await parseFlags<SimulationFlags & RunWorkloadFlags>(RUN, argv);
  checkConflicts(flags);
  checkRunWorkload(flags);
  checkOutputs(outputPaths(flags), [...workloadInputs(flags), ...engineInputs(flags)]);
  const diagnostics = createDiagnostics(flags.values.log, io);
  const [
    { resolveCluster },
    { generateRunWorkload },
    { warnOfAbsentClasses, warnOfForeignModels },
    { simulateCommand },
  ] = await Promise.all([
    import('../config/resolve-cluster.js'),
    import('../config/generate-run-workload.js'),
    import('../config/workload-warnings.js'),
    import('./simulate-command.js'),
  ]);
  const { config, latency } = await resolveCluster(flags, diagnostics);
  const { goodputTargets, ...generated } = await generateRunWorkload(flags, config.goodputTargets, diagnostics);
  warnOfForeignModels(generated.workload.table, config.replica.model, '--workload-spec', diagnostics);
  warnOfAbsentClasses(flags, generated.workload, diagnostics);
  const cluster = { config: { ...config, goodputTargets }, latency };
  const again = async () => (await generateRunWorkload(flags, config.goodputTargets, SILENT)).workload;
  return simulateCommand({ flags, diagnostics, cluster, ...generated, again }, io);
}

import { type RequestOutcomes, STATUS } from '../../replica/request-outcomes.js';
import { requestsJson, resultJson, resultWithRequestsJson } from '../../report/result/result-json.js';
import { documentJson } from '../../report/text/document-json.js';
import type { RequestResult, ResultDocument } from '../../simulator/result-document.js';
import { type SimulationResult, simulate } from '../../simulator/simulate.js';
import type { TraceFacts, TraceOutcomes } from '../../workload/trace-v2/write.js';
import type { Workload } from '../../workload/workload.js';
import type { ResolvedCluster, SimulationFlags } from '../config/resolve-cluster.js';
import type { Diagnostics } from '../diagnostics.js';
import type { FlagValues } from '../flags/flag.js';
import { type CliIo, presentation } from '../io.js';
import { type OutputContent, writeOutputs } from '../output/output-files.js';
import { traceFiles } from '../output/output-paths.js';
import { spoolBeside, TextSpool } from '../output/text-spool.js';
import { limitCompiler } from '../tune-v8.js';
import { intervalRange, simulateInterval } from './interval.js';
import { nothingCompleted } from './nothing-completed.js';
import { createProgressLine } from './progress-line.js';

/** The input of a simulation, read and checked. */
export interface PreparedSimulation {
  flags: FlagValues<SimulationFlags>;
  diagnostics: Diagnostics;
  cluster: ResolvedCluster;
  workload: Workload;
  /** The source of the workload, enough to generate it again: part of the result. */
  facts: Record<string, unknown>;
  /** The content of the header of `--trace-output`. */
  traceFacts: TraceFacts;
  /** The workload once more: a run uses it up. */
  again(): Promise<Workload>;
}

/** Simulates, writes the output files, then prints the result. */
export async function simulateCommand(prepared: PreparedSimulation, io: CliIo): Promise<number> {
  const { flags, diagnostics, cluster, workload, facts } = prepared;
  const range = intervalRange(flags, cluster);
  const decisionsPath = flags.values['decisions-path'];
  const decisions = decisionsPath === null ? null : new TextSpool(spoolBeside(decisionsPath));
  try {
    const progress = createProgressLine(io);
    limitCompiler(workload.table.count);
    const result = simulate(cluster.config, workload, cluster.latency, {
      progress: progress.update,
      ...(decisions === null ? {} : { decision: (line) => decisions.add(line) }),
    });
    progress.end();
    const interval = range === null ? null : await simulateInterval(prepared, range);
    const latency = { ...result.document.latency, ...(interval === null ? {} : { interval }) };
    const document: ResultDocument = {
      ...result.document,
      latency,
      config: { ...cluster.config, workload: facts },
    };
    const outputs = await outputContents(prepared, result, document, decisions);
    if (outputs.length > 0) await writeOutputs(outputs, io);
    for (const { flag, path } of outputs) diagnostics.debug(`${flag}: wrote ${path}`);
    io.stdout.write(flags.values.format === 'table' ? await asTable(document, io) : resultJson(document));
    const warning = nothingCompleted(document.cluster, cluster.config.admission.policy);
    if (warning !== null) diagnostics.warn(warning);
    else if (isOverloaded(document)) diagnostics.warn(document.saturation.verdict);
    return 0;
  } finally {
    decisions?.close();
  }
}

/** By the verdict that every result has, or by a detector that was chosen. */
function isOverloaded({ saturation: { detectors = {}, state } }: ResultDocument): boolean {
  return state === 'saturated' || Object.values(detectors).some(({ level }) => level === 'overloaded');
}

async function asTable(document: ResultDocument, io: CliIo): Promise<string> {
  const { resultTable } = await import('../../report/result/result-table.js');
  return resultTable(document, presentation(io));
}

async function outputContents(
  { flags: { values }, traceFacts }: PreparedSimulation,
  result: SimulationResult,
  document: ResultDocument,
  decisions: TextSpool | null,
): Promise<OutputContent[]> {
  const outputs: OutputContent[] = [];
  const add = (flag: keyof SimulationFlags & string, path: string | null, pieces: OutputContent['pieces']) => {
    if (path !== null) outputs.push({ flag: `--${flag}`, path, pieces });
  };
  let made: RequestResult[] | undefined;
  const requests = () => {
    made ??= result.requests();
    return made;
  };
  add('metrics-path', values['metrics-path'], () => resultWithRequestsJson(document, requests()));
  add('results-path', values['results-path'], () => requestsJson(requests()));
  add('saturation-report', values['saturation-report'], () => [
    documentJson({ final: document.saturation, trace: result.detectorChanges() }),
  ]);
  if (decisions !== null) add('decisions-path', values['decisions-path'], () => decisions.pieces());
  const prefix = values['trace-output'];
  if (prefix !== null) {
    const { writeTraceData, writeTraceHeader } = await import('../../workload/trace-v2/write.js');
    const { header, data } = traceFiles(prefix);
    const blockTokens = result.table.blocks?.blockTokens;
    add('trace-output', header, () => [writeTraceHeader({ ...traceFacts, blockTokens })]);
    add('trace-output', data, () => writeTraceData(result.table, traceOutcomes(result.outcomes)));
  }
  return outputs;
}

/** The columns of a written trace with the outcome of each request. */
function traceOutcomes(outcomes: RequestOutcomes): TraceOutcomes {
  return {
    ttftUs: outcomes.ttftUs,
    itlSumUs: outcomes.itlSumUs,
    ...(outcomes.clientWaitUs === null ? {} : { clientWaitUs: outcomes.clientWaitUs }),
    status(row) {
      const status = outcomes.status[row]!;
      if (status === STATUS.completed || status === STATUS.length_capped) return 'ok';
      return status === STATUS.timed_out ? 'timeout' : 'incomplete';
    },
  };
}

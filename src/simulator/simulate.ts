import type { RequestTable } from '../workload/request-table.js';
import type { Workload } from '../workload/workload.js';
import type { ClusterConfig } from './cluster-config.js';
import type { RequestResult, ResultDocument } from './result-document.js';

/** What a caller may watch while a simulation runs. */
export interface SimulationWatch {
  /** Called now and then with how many of the known requests have arrived. */
  progress?(arrived: number, known: number): void;
  /** Gets one JSON line per decision (`--decisions-path`); needs trace level 'decisions'. */
  decision?(line: string): void;
}

export interface SimulationResult {
  /** Without `config.workload` and `requests`: the caller knows where the workload came from. */
  document: Omit<ResultDocument, 'config' | 'requests'>;
  table: RequestTable;
  /** One entry per request that exists, in arrival order. */
  requests(): RequestResult[];
}

export function simulate(_config: ClusterConfig, _workload: Workload, _watch: SimulationWatch = {}): SimulationResult {
  throw new Error('not yet');
}

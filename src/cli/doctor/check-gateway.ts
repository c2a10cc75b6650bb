import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RunError } from '../../kernel/errors.js';
import { ApiClient } from '../api/api-client.js';
import type { ServerValues } from '../api/find-server.js';
import type { CliIo } from '../io.js';
import { type Check, finding, findingOf, fine } from './check.js';

interface ReplicaState {
  readonly workspace: string;
  readonly endpoint: string;
  readonly id: string;
  readonly state: string;
  readonly problem: string;
  readonly breaker: string;
  readonly suspect: string;
  readonly leaving: boolean;
}

/**
 * A running gateway and its replicas as it sees them: the gateway of --server, of the environment or of the data folder. No
 * check at all where none of them names one.
 */
export async function checkGateway(values: ServerValues, dataDir: string, io: Pick<CliIo, 'env'>): Promise<Check[]> {
  const file = join(dataDir, 'admin.json');
  const isNamed = values.server !== null || io.env.TWINYARD_SERVER !== undefined;
  if (!isNamed && !existsSync(file)) return [];
  const place = values.server ?? io.env.TWINYARD_SERVER ?? file;
  try {
    const client = ApiClient.of({ ...values, 'data-dir': dataDir }, io);
    const { items } = await client.list<ReplicaState>('/api/v1/replicas');
    return [fine('gateway', client.url, `runs, with ${items.length} replicas`), ...items.map(checkState)];
  } catch (error) {
    if (error instanceof RunError && error.code === 'SERVER_NOT_RUNNING') {
      return [
        finding('gateway', file, 'names a gateway that is not running', "start 'twinyard serve', or delete the file"),
      ];
    }
    return [findingOf('gateway', place, error, 'check --server and --token')];
  }
}

function checkState({ breaker, endpoint, id, leaving, problem, state, suspect, workspace }: ReplicaState): Check {
  const place = `${workspace}/${endpoint}/${id}`;
  if (leaving || state === 'draining') return fine('replica', place, 'leaving');
  if (breaker === 'open') {
    return finding('replica', place, 'its circuit breaker is open: requests failed', 'read the log of its engine');
  }
  if (state === 'ready' && suspect !== '') {
    return finding('replica', place, suspect, 'read the log of its engine: it takes requests and gives nothing back');
  }
  if (state === 'ready') return fine('replica', place, 'gets requests');
  const hint = 'read the log of its engine, and check that the gateway reaches its address';
  return finding('replica', place, `is ${state}${problem === '' ? '' : ` (${problem})`}`, hint);
}

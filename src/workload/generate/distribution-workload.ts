import { randomStream } from '../../kernel/random-stream.js';
import { workloadFlagInvalid } from '../errors.js';
import { RequestTable } from '../request-table.js';
import type { Workload } from '../workload.js';
import { ClosedLoopUsers } from './closed-loop-users.js';
import { checkLengths, type Lengths, lengthSampler } from './lengths.js';

/** A workload made of lengths drawn from two distributions. Plain data: it is printed as `config.workload`. */
export interface DistributionWorkload {
  /** The client's name in results and traces, and part of its random streams' names: the value of `--workload`. */
  client: string;
  prompt: Lengths;
  output: Lengths;
  numRequests: number;
  /** Requests per second at a constant rate; null with `concurrency`. */
  rate: number | null;
  /** Users who each wait for their answer before they ask again; null with `rate`. */
  concurrency: number | null;
  /** Pause of such a user between an answer and the next request. */
  thinkTimeMs: number;
  /** Tokens that every prompt starts with, on top of its own; 0 for none. */
  prefixTokens: number;
  /** Seconds a request may take; 0 or less for no limit. */
  timeout: number;
}

const PREFIX_GROUP = 'shared';
const MAX_TOKENS = 2 ** 31 - 1;
/** More would not fit into memory. */
const MAX_REQUESTS = 100_000_000;
/** The last arrival (about 30 years on): leaves room for what follows it on a clock of exact microseconds. */
const LATEST_US = 1e15;

/** Makes the requests that are known up front and, with `concurrency`, the users who make the others. */
export function generateWorkload(spec: DistributionWorkload, seed: number): Workload {
  check(spec);
  const inputOf = lengthSampler(spec.prompt, randomStream(seed, `workload/${spec.client}/input`));
  const outputOf = lengthSampler(spec.output, randomStream(seed, `workload/${spec.client}/output`));
  const timeoutUs = spec.timeout > 0 ? Math.trunc(spec.timeout * 1e6) : 0;
  const table = new RequestTable(spec.numRequests);
  const client = table.clients.index(spec.client);
  const group = spec.prefixTokens > 0 ? table.prefixGroups.index(PREFIX_GROUP) : 0;
  table.prefixTokens[group] = spec.prefixTokens;

  function add(arrivalUs: number): number {
    const row = table.append();
    const output = outputOf();
    table.sourceId[row] = row;
    table.arrivalUs[row] = arrivalUs;
    table.inputTokens[row] = spec.prefixTokens + inputOf();
    table.outputTokens[row] = output;
    table.maxOutputTokens[row] = output;
    if (timeoutUs > 0) table.deadlineUs[row] = arrivalUs + timeoutUs;
    table.client[row] = client;
    table.prefixGroup[row] = group;
    return row;
  }

  if (spec.concurrency !== null) {
    const thinkUs = Math.round(spec.thinkTimeMs * 1000);
    const users = new ClosedLoopUsers(spec.numRequests, thinkUs, add);
    users.start(table, spec.concurrency);
    return { table, sessions: users };
  }
  const gapUs = Math.max(1, Math.trunc(1e6 / spec.rate!));
  if (!(spec.numRequests * gapUs <= LATEST_US)) {
    const problem = `at ${spec.rate} requests per second, ${spec.numRequests} requests take more than ${LATEST_US / 1e6} s`;
    throw workloadFlagInvalid('--rate', problem, 'give a higher rate or fewer requests');
  }
  for (let i = 1; i <= spec.numRequests; i++) add(i * gapUs);
  return { table };
}

function check(spec: DistributionWorkload): void {
  const whole = (flag: string, value: number, min: number, max: number) => {
    if (Number.isInteger(value) && value >= min && value <= max) return;
    throw workloadFlagInvalid(flag, `${value} is not a whole number in range`, `give one from ${min} to ${max}`);
  };
  whole('--num-requests', spec.numRequests, 1, MAX_REQUESTS);
  whole('--prefix-tokens', spec.prefixTokens, 0, MAX_TOKENS);
  checkLengths(spec.prompt, '--prompt-tokens');
  checkLengths(spec.output, '--output-tokens');
  whole('--prompt-tokens-max', Math.ceil(spec.prompt.max + spec.prefixTokens), 0, MAX_TOKENS);
  if (spec.concurrency !== null) {
    if (spec.rate !== null)
      throw workloadFlagInvalid('--concurrency', 'given together with --rate', 'give one of the two');
    whole('--concurrency', spec.concurrency, 1, MAX_REQUESTS);
  } else if (!(spec.rate !== null && spec.rate > 0 && spec.rate < Number.POSITIVE_INFINITY)) {
    throw workloadFlagInvalid('--rate', `${spec.rate} is not a rate`, 'give requests per second above 0');
  }
  if (!(spec.thinkTimeMs >= 0 && spec.thinkTimeMs <= 1e12)) {
    throw workloadFlagInvalid('--think-time-ms', `${spec.thinkTimeMs} is not a pause`, 'give milliseconds from 0');
  }
  if (!(spec.timeout <= 1e9)) {
    throw workloadFlagInvalid('--timeout', `${spec.timeout} is not a time`, 'give seconds, negative for no limit');
  }
}

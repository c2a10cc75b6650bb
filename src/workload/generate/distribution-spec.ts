import { workloadFlagInvalid } from '../errors.js';
import { MAX_TOKENS } from '../lengths/limits.js';
import { LATEST_US, MAX_REQUESTS } from '../spec/limits.js';
import type { ClientSpec, LengthSpec, WorkloadSpec } from '../spec/workload-spec.js';

/** Token counts around a mean, kept within bounds. */
export interface LengthBounds {
  mean: number;
  stdev: number;
  min: number;
  max: number;
}

/** A workload as flags describe it: one client, lengths drawn from two distributions. Printed as `config.workload`. */
export interface DistributionWorkload {
  /** The client's name in results and traces, and in the names of its random streams: the value of `--workload`. */
  client: string;
  prompt: LengthBounds;
  output: LengthBounds;
  numRequests: number;
  /** Requests per second at a constant rate; null with `concurrency`. */
  rate: number | null;
  /** Users who each wait for a response before they send again; null with `rate`. */
  concurrency: number | null;
  /** Pause of such a user between a response and the next request. */
  thinkTimeMs: number;
  /** Tokens in front of every prompt, on top of its own; 0 for none. */
  prefixTokens: number;
  /** Seconds a request may take; 0 or less for no limit. */
  timeout: number;
}

const PREFIX_GROUP = 'shared';

/** The same as a specification. */
export function distributionSpec(workload: DistributionWorkload): WorkloadSpec {
  check(workload);
  const { client, prompt, output, rate, concurrency, thinkTimeMs, prefixTokens, timeout } = workload;
  const source: Partial<ClientSpec> =
    concurrency === null
      ? { rate_fraction: 1, arrival: { process: 'constant' } }
      : { concurrency, think_time_us: Math.round(thinkTimeMs * 1000) };
  return {
    version: '2',
    category: 'language',
    clients: [
      {
        id: client,
        ...source,
        input_distribution: gaussian(prompt),
        output_distribution: gaussian(output),
        ...(prefixTokens > 0 ? { prefix_group: PREFIX_GROUP, prefix_length: prefixTokens } : {}),
        timeout: timeout > 0 ? Math.trunc(timeout * 1e6) : 0,
      },
    ],
    ...(rate === null ? {} : { aggregate_rate: rate }),
    num_requests: workload.numRequests,
  };
}

function gaussian({ mean, stdev, min, max }: LengthBounds): LengthSpec {
  return { type: 'gaussian', params: { mean, std_dev: stdev, min, max } };
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
  } else checkRate(spec);
  if (!(spec.thinkTimeMs >= 0 && spec.thinkTimeMs <= 1e12)) {
    throw workloadFlagInvalid('--think-time-ms', `${spec.thinkTimeMs} is not a pause`, 'give milliseconds from 0');
  }
  if (!(spec.timeout <= 1e9)) {
    throw workloadFlagInvalid('--timeout', `${spec.timeout} is not a time`, 'give seconds, negative for no limit');
  }
}

function checkRate({ rate, numRequests }: DistributionWorkload): void {
  if (!(rate !== null && rate > 0 && rate < Number.POSITIVE_INFINITY)) {
    throw workloadFlagInvalid('--rate', `${rate} is not a rate`, 'give requests per second above 0');
  }
  if (numRequests * Math.max(1, Math.trunc(1e6 / rate)) <= LATEST_US) return;
  const problem = `at ${rate} requests per second, ${numRequests} requests take more than ${LATEST_US / 1e6} s`;
  throw workloadFlagInvalid('--rate', problem, 'give a higher rate or fewer requests');
}

/** `flag` is `--prompt-tokens` or `--output-tokens`; the other three are named after it. */
function checkLengths({ mean, stdev, min, max }: LengthBounds, flag: string): void {
  for (const [name, value] of [
    [flag, mean],
    [`${flag}-stdev`, stdev],
    [`${flag}-min`, min],
    [`${flag}-max`, max],
  ] as const) {
    if (!(value >= 0 && value <= MAX_TOKENS)) {
      throw workloadFlagInvalid(name, `${value} is not a number of tokens`, `give a number from 0 to ${MAX_TOKENS}`);
    }
  }
  if (min > max) throw workloadFlagInvalid(`${flag}-min`, `${min} is above ${flag}-max ${max}`, 'swap the two');
  if (mean < min || mean > max) {
    throw workloadFlagInvalid(flag, `the mean ${mean} is outside ${min} to ${max}`, `move ${flag}-min or ${flag}-max`);
  }
}

import { type RandomStream, randomStream } from '../../src/kernel/random-stream.js';
import { gapSamplerOf } from '../../src/workload/generate/plan-schedules.js';
import { TOKENS } from '../../src/workload/lengths/limits.js';
import { lengthSampler } from '../../src/workload/lengths/registry.js';
import { isCohort, trafficOf } from '../../src/workload/spec/walk.js';
import type { ClientSpec, CohortSpec, WorkloadSpec } from '../../src/workload/spec/workload-spec.js';

export interface PlainRequest {
  client: string;
  session: string;
  atUs: number;
  input: number;
  output: number;
}

/**
 * A naive generator: one object per request, client by client up to a horizon, then sorted by time and cut. Draws the
 * same numbers from the same streams. Supports clients and cohorts with rates, prefixes, and sessions with set times.
 */
export function plainGenerate(spec: WorkloadSpec, seed: number, horizonUs: number): PlainRequest[] {
  const all = [...trafficOf(spec)].map(({ traffic }) => traffic);
  const shares = all.reduce((sum, { rate_fraction = 1 }) => sum + rate_fraction, 0);
  const requests: PlainRequest[] = [];
  for (const traffic of all) {
    const members = isCohort(traffic) ? traffic.population : 1;
    const rate = (spec.aggregate_rate! * (traffic.rate_fraction ?? 1)) / shares / members;
    for (let k = 0; k < members; k++) {
      const name = isCohort(traffic) ? `${traffic.id}/${k}` : traffic.id;
      addClient(requests, traffic, name, rate, seed, horizonUs);
    }
  }
  requests.sort((a, b) => a.atUs - b.atUs);
  return requests.slice(0, spec.num_requests);
}

function addClient(
  requests: PlainRequest[],
  traffic: ClientSpec | CohortSpec,
  client: string,
  rate: number,
  seed: number,
  horizonUs: number,
): void {
  const stream = (kind: string) => randomStream(seed, `workload/${client}/${kind}`);
  const gaps = gapSamplerOf(traffic.arrival, rate);
  const inputs = lengthSampler(traffic.input_distribution!, TOKENS);
  const outputs = lengthSampler(traffic.output_distribution!, TOKENS);
  const prefix = traffic.prefix_group === undefined ? 0 : traffic.prefix_length!;
  const chat = traffic.reasoning?.multi_turn;
  const [arrival, input, output, chats] = ['arrival', 'input', 'output', 'chats'].map(stream);
  let atUs = 0;
  for (let number = 0; ; number++) {
    atUs += Math.max(1, Math.trunc(gaps.draw(arrival!)));
    if (atUs > horizonUs) return;
    if (chat === undefined) {
      requests.push({
        client,
        session: '',
        atUs,
        input: prefix + inputs.draw(input!),
        output: outputs.draw(output!),
      });
      continue;
    }
    const own = childOf(chats!);
    const session = `${client}/chat_${number}`;
    let past = prefix;
    let turnUs = atUs;
    for (let round = 0; round < chat.max_rounds && turnUs <= horizonUs; round++) {
      const turn = { client, session, atUs: turnUs, input: past + inputs.draw(own), output: outputs.draw(own) };
      requests.push(turn);
      if (chat.context_growth === 'accumulate') past = turn.input + Math.max(0, turn.output - 1);
      turnUs += chat.think_time_us! + turn.output;
    }
  }
}

/** A stream whose state is drawn from another. */
function childOf(parent: RandomStream): RandomStream {
  const [a, b, c, d] = Array.from({ length: 4 }, () => parent.below(2 ** 32));
  const child = randomStream(0, '');
  child.restore([a!, b!, c!, d! | 1]);
  return child;
}

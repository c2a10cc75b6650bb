import type { RoutingPolicy } from '../../policy/contract.js';
import { PolicyHost } from '../../policy/host/policy-host.js';
import { OPEN_ADMISSION } from '../../policy/host/policy-settings.js';
import { EVENT_STREAM } from '../../policy/host/worlds.js';
import { policyOptions } from '../../policy/policy-options.js';
import { routingPolicy } from '../../policy/registry.js';
import { summaryOf } from '../commands.js';
import { conflictingFlags, missingFlag } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import type { FlagValues } from '../flags/flag.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { readEvent } from './decide-event.js';
import { type DecideFlags, decideFlags, decideOutputFlags } from './decide-flags.js';
import { DecideRun } from './decide-run.js';

export const DECIDE: CommandLine = {
  name: 'decide',
  summary: summaryOf('decide'),
  about:
    'Use it to test a policy by itself: events (replicas, signals, requests, first tokens, completions) are read as JSON lines from stdin, and one decision per request is printed.',
  groups: [
    { title: 'Policy', flags: decideFlags },
    { title: 'Output', flags: decideOutputFlags },
  ],
  examples: [
    'decide --routing-policy lmetric < examples/events.jsonl',
    'decide --routing-policy weighted --policy-options \'{"scorers":"prefix-affinity:3,queue-depth:2"}\' --explain < examples/events.jsonl',
  ],
};

/** Arrays are allocated for this many replicas: more are an error in the input. */
export const MOST_EVENT_REPLICAS = 4096;

export async function decide(argv: readonly string[], io: CliIo): Promise<number> {
  const flags = await parseFlags<DecideFlags>(DECIDE, argv);
  const run = createRun(flags);
  let number = 0;
  for await (const lines of lineBatches(io.stdin())) {
    let decisions = '';
    try {
      for (const line of lines) {
        number++;
        if (line.trim() === '') continue;
        const place = `stdin:${number}`;
        decisions += run.apply(readEvent(line, place), place);
      }
    } finally {
      // Decisions before a bad line are still printed.
      if (decisions !== '') io.stdout.write(decisions);
    }
  }
  return 0;
}

function createRun(flags: FlagValues<DecideFlags>): DecideRun {
  const { values } = flags;
  const name = values['routing-policy'];
  if (name === null) {
    throw missingFlag('--routing-policy', 'is required', "give a policy; 'twinyard decide --help' lists them");
  }
  const policy = routingPolicy(name);
  const options = policyOptions(policy, givenOptions(flags, policy), '--policy-options');
  const reads = policy.reads(options);
  const unknown = reads.find((signal) => EVENT_STREAM.lacks.includes(signal));
  if (unknown !== undefined) {
    const problem = `${name} reads ${unknown} with these options, which no event has`;
    throw conflictingFlags('--policy-options', problem, 'choose others');
  }
  const host = new PolicyHost(
    {
      routing: { policy: name, options: options as Record<string, unknown> },
      ...OPEN_ADMISSION,
      blockSize: values['block-size'],
      cacheBlocks: values['cache-blocks'],
    },
    { world: EVENT_STREAM, seed: values.seed, mostReplicas: MOST_EVENT_REPLICAS, allBooks: values.explain },
  );
  return new DecideRun(host, values.explain);
}

/** `--block-size` is the option of that name of policies that have one. */
function givenOptions({ values, given }: FlagValues<DecideFlags>, policy: RoutingPolicy): Record<string, unknown> {
  const options = values['policy-options'];
  const blockSize = values['block-size'];
  if (!given('block-size') || policy.blockSize === undefined) return options;
  if (options.block_size !== undefined && options.block_size !== blockSize) {
    throw conflictingFlags('--block-size', "differs from 'block_size' in --policy-options", 'give one of them');
  }
  return { ...options, block_size: blockSize };
}

/** Yields, for each piece of input, the lines it completes. The last line needs no line end. */
async function* lineBatches(pieces: AsyncIterable<string | Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of pieces) {
    const text = typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true });
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    yield lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield [rest];
}

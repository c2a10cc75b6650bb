import { fakeFacts } from '../../src/gateway/request/fake-facts.fixture.js';
import { MeasuredPrompt } from '../../src/gateway/request/measured-prompt.js';
import type { RequestFacts } from '../../src/gateway/request/request-facts.js';
import { randomStream } from '../../src/kernel/random-stream.js';
import { PromptBytes } from '../../src/protocol/prompt-bytes.js';
import { writePrompt } from '../../src/protocol/write-prompt.js';
import type { BlockKeys } from '../../src/replica/replica-requests.js';

const CLASSES = ['standard', 'critical', 'batch', 'sheddable', 'background', 'gold'];
const TENANTS = ['', 'a', 'b', 'c'];

/** A request with a prompt, as a client sends it, and its length as the gateway measures it. */
export interface ScriptedRequest {
  facts: RequestFacts;
  inputTokens: number;
}

/**
 * Sessions that share system prompts and repeat earlier turns; some requests without a session, some too short for a
 * block.
 */
export function randomRequests(count: number, seed: number): ScriptedRequest[] {
  const random = randomStream(seed, 'scripted requests');
  const pick = <T>(list: readonly T[]) => list[random.below(list.length)]!;
  return Array.from({ length: count }, (_, row) => {
    const session = pick(['', '', 's0', 's1', 's2', 's3']);
    const turns = random.below(4);
    const messages = [
      { role: 'system', content: 'system '.repeat(random.below(3) * 8) },
      ...Array.from({ length: turns }, (__, turn) => ({ role: 'user', content: `${session} turn ${turn} `.repeat(4) })),
      { role: 'user', content: pick(['', `only ${row}`]) },
    ];
    const write = () =>
      fakeFacts({
        id: `request_${row}`,
        kind: 'chat',
        session,
        sloClass: pick(CLASSES),
        tenant: pick(TENANTS),
        streams: true,
        body: { messages },
      });
    // Whole tokens, so that both worlds cut the prompt into the same blocks.
    while (bytesOf(write()) % 4 !== 0) messages[messages.length - 1]!.content += '.';
    const facts = write();
    return { facts, inputTokens: bytesOf(facts) / 4 };
  });
}

/** The identity of these prompts as the gateway names it, for the simulator. */
export function blockKeysOf(requests: readonly ScriptedRequest[], blockSize: number): BlockKeys {
  const prompt = new MeasuredPrompt();
  return {
    fill(row, blocks, out) {
      prompt.read(requests[row]!.facts, blockSize);
      out.set(prompt.blocks.subarray(0, blocks));
    },
    // The gateway cannot know which blocks no other prompt has.
    shared: (_, blocks) => blocks,
  };
}

function bytesOf({ body, kind }: RequestFacts): number {
  const prompt = new PromptBytes();
  writePrompt(kind, body.parsed()!, prompt);
  return prompt.length;
}

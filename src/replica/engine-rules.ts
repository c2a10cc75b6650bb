import { unknownEntry } from './errors.js';

/** Where engines differ in what they do with requests, whatever the order they serve them in. */
export interface EngineRules {
  name: string;
  summary: string;
  /** A prompt that is wholly in the cache still has its last block computed: a step has to give the first token. */
  computesLastBlock: boolean;
  /** A preempted request keeps the tokens it has given: it computes their KV again together with its prompt. */
  keepsOutput: boolean;
  /** A step is put together while the one before it runs: a request that arrives during a step waits for the next but one. */
  schedulesAhead: boolean;
  /** What a block held is lost when it is taken again, even where a younger block holds the same. */
  losesCopies: boolean;
  /** No step begins before the last one is over; otherwise a request that finds an idle engine begins at once. */
  finishesSteps: boolean;
  /** The last token of a response is given a place in the KV memory before the request leaves. */
  storesLastToken: boolean;
  /** First tokens and departures are reported to the router at the end of their step, as by a real engine; otherwise at its start. */
  reportsStepEnds: boolean;
}

export const ENGINE_RULES: readonly EngineRules[] = [
  {
    name: 'classic',
    summary: 'a prompt found whole costs nothing; a preempted request starts its output over',
    computesLastBlock: false,
    keepsOutput: false,
    schedulesAhead: false,
    losesCopies: true,
    finishesSteps: false,
    storesLastToken: true,
    reportsStepEnds: false,
  },
  {
    name: 'vllm-v1',
    summary: 'the last block of a prompt is always computed; a preempted request keeps its output so far',
    computesLastBlock: true,
    keepsOutput: true,
    schedulesAhead: false,
    losesCopies: false,
    finishesSteps: true,
    storesLastToken: false,
    reportsStepEnds: true,
  },
  {
    name: 'vllm-v1-async',
    summary: 'as vllm-v1, and a step is put together while the one before it runs',
    computesLastBlock: true,
    keepsOutput: true,
    schedulesAhead: true,
    losesCopies: false,
    finishesSteps: true,
    storesLastToken: false,
    reportsStepEnds: true,
  },
];

/** By name; without one, the rules that replicas have followed from the start. */
export function engineRules(name: string | undefined): EngineRules {
  const found = name === undefined ? ENGINE_RULES[0] : ENGINE_RULES.find((rules) => rules.name === name);
  if (found !== undefined) return found;
  throw unknownEntry('REPLICA_UNKNOWN_RULES', '--engine-rules', 'set of rules', name!, ENGINE_RULES);
}

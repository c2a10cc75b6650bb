import type { Drift } from '../../gateway/prediction/drift-watch.js';
import type { EngineFacts } from '../../gateway/prediction/engine-facts.js';
import type { DriftReason } from '../../gateway/prediction/profile-book.js';

/** Slower or quicker than predicted by this factor in everything. */
const EVERYWHERE = 1.15;

const CHANGES: readonly (readonly [DriftReason, keyof EngineFacts, string])[] = [
  ['engine-version', 'version', 'the engine version changed'],
  ['model-length', 'maxModelLen', 'the model length changed'],
  // Another GPU, or another share of it, holds another number of blocks.
  ['gpu', 'kvBlocks', 'the number of KV blocks changed, as with another GPU'],
];

/** An engine that was restarted finds a little more or less memory: other blocks than this are those of another GPU. */
const LEAST_BLOCKS_CHANGE = 0.05;

/** Whether a fact of an engine is another one than before. What is not known has not changed. */
function isChanged(name: keyof EngineFacts, before: EngineFacts[typeof name], now: EngineFacts[typeof name]): boolean {
  if (before === null || now === null || before === now) return false;
  return name !== 'kvBlocks' || Math.abs(Number(now) / Number(before) - 1) >= LEAST_BLOCKS_CHANGE;
}

/** Whether requests before the change show another engine. */
export function isOther(before: EngineFacts, now: EngineFacts): boolean {
  const names = ['version', 'model', 'maxModelLen', 'kvBlocks'] as const;
  return names.some((name) => isChanged(name, before[name], now[name]));
}

/** What has changed of an engine; null for nothing that is known. */
export function factChange(before: EngineFacts, now: EngineFacts): { reason: DriftReason; why: string } | null {
  for (const [reason, name, what] of CHANGES) {
    const [old, present] = [before[name], now[name]];
    if (isChanged(name, old, present)) return { reason, why: `${what}: ${old} to ${present}` };
  }
  return null;
}

/**
 * How a replica came to another profile, from what profiles are named after (`vllm@H100-tp2`): onto another GPU, or another number
 * of them. Null where nothing is known to have changed. @param known names with a profile
 */
export function movedFrom(known: readonly string[], engine: string): string | null {
  const [name, ground] = partsOf(engine);
  if (ground === '') return null;
  const before = known.map(partsOf).find(([other, there]) => other === name && there !== '' && there !== ground);
  return before === undefined ? null : `the GPU changed: ${before[1]} to ${ground}`;
}

function partsOf(engine: string): readonly [name: string, ground: string] {
  const [name = '', ...ground] = engine.split('@');
  return [name, ground.join('@')];
}

/** The likely reason for predictions that have become worse, and how to say it. */
export function driftReason(
  before: EngineFacts,
  now: EngineFacts,
  { ratio }: Pick<Drift, 'ratio'>,
): { reason: DriftReason; why: string } {
  const change = factChange(before, now);
  if (change !== null) return change;
  const isSlower = ratio.ttft >= EVERYWHERE && ratio.itl >= EVERYWHERE;
  const isQuicker = ratio.ttft <= 1 / EVERYWHERE && ratio.itl <= 1 / EVERYWHERE;
  if (isSlower || isQuicker) {
    const by = `TTFT ${times(ratio.ttft)}, ITL ${times(ratio.itl)}`;
    const how = isSlower ? 'slower' : 'quicker';
    return { reason: 'host', why: `everything is ${how} (${by}) and no setting changed: look at the host` };
  }
  return { reason: 'unknown', why: 'neither the engine nor the model changed' };
}

function times(ratio: number): string {
  return `${ratio.toFixed(1)} times the predicted one`;
}

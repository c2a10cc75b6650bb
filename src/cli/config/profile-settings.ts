import type { LatencyProfile, ProfileScheduler } from '../../replica/latency/profile.js';
import type { Diagnostics } from '../diagnostics.js';
import { conflictingFlags } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { InstanceFlags } from '../flags/instance-flags.js';
import { refuseGiven } from './flag-conflicts.js';

/** The profile that --latency-profile names; null without the flag. Its reader is loaded only when it is given. */
export async function givenProfile({ values }: FlagValues<InstanceFlags>): Promise<LatencyProfile | null> {
  const path = values['latency-profile'];
  if (path === null) return null;
  const { readProfile } = await import('../../replica/latency/profile-file.js');
  return readProfile(path);
}

/** Refuses flags that the profile replaces, and warns of other hardware. */
export function checkProfile(
  flags: FlagValues<InstanceFlags>,
  { name, model, hardware, tp }: LatencyProfile,
  diagnostics: Diagnostics,
): void {
  const { values } = flags;
  const hint = 'leave it out, or leave out --latency-profile';
  const replaced = ['alpha-coeffs', 'beta-coeffs', 'dp', 'moe-comm-backend'] as const;
  refuseGiven(flags, replaced, 'the profile says what steps take', hint);
  if (values['latency-model'] !== 'profile') {
    refuseGiven(flags, ['latency-model'], 'the profile says what steps take', hint);
  }
  if (values.tp !== null && values.tp !== tp) {
    throw conflictingFlags('--tp', `the profile '${name}' was measured with ${tp}`, hint);
  }
  for (const [flag, given, measured] of [
    ['--model', values.model, model],
    ['--hardware', values.hardware, hardware],
  ] as const) {
    if (given === null || given.toLowerCase() === measured.toLowerCase()) continue;
    diagnostics.warn(`${flag} ${given}: the profile '${name}' was measured with ${measured}`);
  }
}

/** Whether flags and profile say how long requests may be and how many fit. */
export function saysMemory(flags: FlagValues<InstanceFlags>, measured: ProfileScheduler): boolean {
  const { totalKvBlocks, maxModelLen } = engineSettings(flags, measured);
  return totalKvBlocks !== null && maxModelLen !== null;
}

/** Settings of the engine: what a flag says, else what was measured, else the flag's default. */
export function engineSettings(flags: FlagValues<InstanceFlags>, measured: ProfileScheduler) {
  const { values } = flags;
  const setting = <Value>(flag: keyof InstanceFlags & string, value: Value, ofProfile: Value | undefined): Value =>
    flags.given(flag) ? value : (ofProfile ?? value);
  return {
    blockSize: setting('block-size-in-tokens', values['block-size-in-tokens'], measured.blockSize),
    totalKvBlocks: setting('total-kv-blocks', values['total-kv-blocks'], measured.totalKvBlocks),
    maxModelLen: setting('max-model-len', values['max-model-len'], measured.maxModelLen),
    maxNumSeqs: setting('max-num-seqs', values['max-num-seqs'], measured.maxNumSeqs),
    maxNumBatchedTokens: setting(
      'max-num-batched-tokens',
      values['max-num-batched-tokens'],
      measured.maxNumBatchedTokens,
    ),
    longPrefillTokenThreshold: setting(
      'long-prefill-token-threshold',
      values['long-prefill-token-threshold'],
      measured.longPrefillTokenThreshold,
    ),
    engineRules: setting('engine-rules', values['engine-rules'], measured.engineRules),
  };
}

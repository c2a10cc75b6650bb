import type { Capacity, Preset } from '../../experiment/presets/preset.js';
import { badValue, conflictingFlags } from '../errors.js';
import { replayWorkloadFlags } from '../flags/replay-workload-flags.js';
import { runWorkloadFlags } from '../flags/run-workload-flags.js';
import { mergeSettings, type Settings } from './settings.js';
import type { PlannedVariant } from './variant-plan.js';

/** The settings of all variants of a preset: its own, overridden by the command line. */
export function presetSettings(preset: Preset, given: Settings): Settings {
  for (const [name, { place }] of given) {
    if (isAllowed(preset, name)) continue;
    throw conflictingFlags(place, `--preset ${preset.name} has its own workload`, 'leave it out');
  }
  return mergeSettings(settingsOf(preset.settings, preset), given);
}

function isAllowed({ workload }: Preset, name: string): boolean {
  if (workload === 'flags' || name === 'num-requests') return true;
  // Pauses are flags of both: they set how a trace is replayed.
  if (workload === 'preset or trace' && Object.hasOwn(replayWorkloadFlags, name)) return true;
  return !Object.hasOwn(runWorkloadFlags, name) && !Object.hasOwn(replayWorkloadFlags, name);
}

/** The variants of a preset, with the flags that were given beside it. */
export function planPreset(preset: Preset, given: Settings, capacity: Capacity): PlannedVariant[] {
  const shared = presetSettings(preset, given);
  const requests = preset.workload === 'flags' ? undefined : given.get('num-requests');
  if (requests !== undefined && Number(requests.text) < preset.leastRequests) {
    throw badValue(requests.place, requests.text, 'is too small', `at least ${preset.leastRequests}`);
  }
  const variants = preset.variants(requests === undefined ? null : Number(requests.text), capacity);
  const varied = new Set(variants.flatMap(({ settings }) => Object.keys(settings)));
  for (const [name, { place }] of given) {
    if (varied.has(name)) throw conflictingFlags(place, `is what --preset ${preset.name} varies`, 'leave it out');
  }
  return variants.map((variant) => ({
    ...variant,
    settings: mergeSettings(shared, settingsOf(variant.settings, preset)),
    source: '',
  }));
}

function settingsOf(settings: Readonly<Record<string, string>>, { name: preset }: Preset): Settings {
  return new Map(
    Object.entries(settings).map(([name, text]) => [name, { text, place: `--preset ${preset} (${name})` }]),
  );
}

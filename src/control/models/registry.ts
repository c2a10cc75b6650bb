import type { Clock, ModelRegistry, RegistryKind, RegistrySettings } from './contract.js';
import { unknownRegistryType } from './errors.js';
import { fileRegistry } from './kinds/file.js';
import { huggingFaceRegistry } from './kinds/hugging-face.js';
import { systemClock } from './system-clock.js';

/** Every kind of registry: a new one is a file and a line here. */
export const REGISTRY_KINDS: readonly RegistryKind[] = [huggingFaceRegistry, fileRegistry];

/** Throws an `InputError` for an unknown kind or invalid settings; does not connect yet. */
export function openRegistry(kind: string, settings: RegistrySettings, clock: Clock = systemClock): ModelRegistry {
  const found = REGISTRY_KINDS.find(({ name }) => name === kind);
  if (found !== undefined) return found.open(settings, clock);
  const known = REGISTRY_KINDS.map(({ name }) => name);
  throw unknownRegistryType(settings.place ?? 'registry', kind, known);
}

import { admission } from './admission.js';
import { b3 } from './b3.js';
import type { Preset } from './preset.js';
import { routing } from './routing.js';
import { staleness } from './staleness.js';

/** Every comparison that has a name: a new one is a file and a line here. */
export const PRESETS: readonly Preset[] = [routing, b3, staleness, admission];

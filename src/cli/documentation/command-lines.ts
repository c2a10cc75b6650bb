import { COMPARE } from '../compare.js';
import { COMPOSE } from '../compose.js';
import { CONVERT } from '../convert.js';
import { DECIDE } from '../decide.js';
import { DEMO } from '../demo.js';
import { ENGINE } from '../engine.js';
import { EXPLAIN } from '../explain.js';
import type { CommandLine } from '../flags/command-line.js';
import { ownCompareGroups } from '../flags/compare-flags.js';
import { REPLAY } from '../replay.js';
import { RUN } from '../run.js';
import { SERVE } from '../serve.js';
import { TRACE_ANONYMISE } from '../trace/anonymise.js';
import { TRACE_CAP } from '../trace/cap.js';
import { TRACE_FIT } from '../trace/fit.js';
import { TRACE_SCALE } from '../trace/scale.js';
import { TRACE_SLICE } from '../trace/slice.js';
import { TRACE_STATS } from '../trace/stats.js';

/** Commands whose flags are all their own, in the order in which the documentation lists them. */
export const OTHER_COMMAND_LINES: readonly CommandLine[] = [
  // Most of its flags are those of run and replay.
  { ...COMPARE, groups: ownCompareGroups },
  DECIDE,
  TRACE_STATS,
  TRACE_CAP,
  TRACE_SLICE,
  TRACE_SCALE,
  TRACE_ANONYMISE,
  TRACE_FIT,
  CONVERT,
  COMPOSE,
  DEMO,
  SERVE,
  EXPLAIN,
  ENGINE,
];

/** Every command that takes flags. */
export const COMMAND_LINES: readonly CommandLine[] = [RUN, REPLAY, ...OTHER_COMMAND_LINES];

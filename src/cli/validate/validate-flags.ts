import { calibrationOutputFlags, networkFlags, toleranceFlags } from '../calibrate/calibrate-flags.js';
import { clusterFlags } from '../flags/cluster-flags.js';
import type { FlagTable } from '../flags/flag.js';
import { instanceFlags } from '../flags/instance-flags.js';
import { file, stringFlag } from '../flags/kinds.js';
import {
  observedServerFlags,
  observeLoadFlags,
  observeOutputFlags,
  observePlanFlags,
  serverSettingFlags,
} from '../observe/observe-flags.js';

/** Further measurements, which `observe` writes beside the trace. */
const RECORDED = ['record-itl', 'scrape-kv-metrics', 'scrape-interval-ms'] as const;
const recordFlags = Object.fromEntries(RECORDED.map((name) => [name, observeOutputFlags[name]]));

/** The flags of `observe`, by group. */
export const observeParts = {
  Server: observedServerFlags,
  Requests: observePlanFlags,
  Load: observeLoadFlags,
  'Settings of the server': serverSettingFlags,
  Recording: recordFlags,
} satisfies Record<string, FlagTable>;

export const observedFlags: FlagTable = Object.assign({}, ...Object.values(observeParts));

/** The flags of `replay` for settings that an observed server does not report: the others come from the trace's header. */
export const replayedFlags: FlagTable = Object.fromEntries(
  Object.entries({ ...clusterFlags, ...instanceFlags }).filter(([name]) => !Object.hasOwn(observedFlags, name)),
);

export const comparedFlags = { ...networkFlags, ...toleranceFlags };

/** The model to simulate. */
export const simModelFlags = {
  'sim-model': stringFlag({
    default: null,
    placeholder: 'name',
    defaultText: 'as the server reports',
    help: 'the model in the catalogue, where the server uses another name',
  }),
};

export const validateOutputFlags = {
  'output-dir': file({
    placeholder: 'folder',
    defaultText: 'validation',
    help: 'folder for the trace, the results and the comparison; created if it does not exist',
  }),
  ...calibrationOutputFlags,
};

export type ValidateFlags = typeof comparedFlags & typeof simModelFlags & typeof validateOutputFlags;

/** The given flags as arguments of another command. */
export function argumentsOf(flags: FlagTable, texts: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(flags).flatMap(([name, flag]) => {
    const text = texts[name];
    if (typeof text !== 'string') return [];
    if (flag.kind === 'switch') return [`--${name}`];
    return (flag.repeats ? text.split('\n') : [text]).flatMap((one) => [`--${name}`, one]);
  });
}

import { plainWord } from '../../kernel/text/plain-word.js';
import { serverFlags } from '../api/server-flags.js';
import { badValue } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import type { Flag } from '../flags/flag.js';
import { flowControlFlags } from '../flags/flow-control-flags.js';
import { instanceFlags } from '../flags/instance-flags.js';
import {
  choiceFlag,
  count,
  file,
  listFlag,
  microseconds,
  registered,
  stringFlag,
  timeFlag,
  toggle,
} from '../flags/kinds.js';
import { outputFlags } from '../flags/output-flags.js';
import { readDuration } from '../flags/read-list.js';
import { admissionPolicyNames, gpuNames, routingPolicyNames } from '../flags/registered-names.js';
import { tracePartFlags } from '../flags/trace-part-flags.js';

/** Where the traffic comes from. */
export const recordedFlags = {
  recording: file({ help: 'traffic that a gateway recorded, with its rotated files' }),
  gateway: stringFlag({
    default: null,
    placeholder: 'url',
    help: 'admin address of a running gateway: its own recording, policy, latency profile and settings are used',
  }),
  last: listFlag<number | null>({
    default: null,
    placeholder: 'duration',
    defaultText: 'all; 1h of a gateway',
    accepted: "a duration with its unit, as in '30m' or '1h'",
    read: readDuration,
    help: 'only requests that arrived in this time before the last one',
  }),
  to: timeFlag({ defaultText: 'now', help: 'of a gateway only requests that arrived before; --last counts from it' }),
  endpoint: stringFlag({
    default: null,
    placeholder: 'name',
    defaultText: 'all; the only one of a gateway',
    help: 'only requests of this endpoint',
  }),
  'trace-model': tracePartFlags['trace-model'],
};

/** The fleet to compare with the recorded one. */
export const askedFlags = {
  policy: listFlag<readonly string[] | null>({
    default: null,
    placeholder: 'names',
    defaultText: "a gateway's own",
    accepted: 'names of routing policies with commas between them',
    read: (text) => text.split(',').map((name) => name.trim()),
    suggestions: routingPolicyNames,
    help: 'routing policy; of several, each is compared with the recording: name,name,...',
  }),
  'policy-option': options('an option of the policy'),
  replicas: count({ default: null, min: 1, max: 10_000, defaultText: 'as recorded', help: 'number of replicas' }),
  gpu: stringFlag({
    default: null,
    placeholder: 'gpu',
    defaultText: 'as recorded',
    suggestions: gpuNames,
    help: 'the same engines on another GPU type: recorded step times times the ratio of data sheets',
  }),
  admission: registered({ default: 'always-admit', names: admissionPolicyNames, help: 'which requests are admitted' }),
  'admission-option': options('an option of the admission policy'),
  'no-queue': toggle({ help: 'no queue before routing, also where the gateway has one' }),
};

/** What the live gateway's policies see. */
export const liveFlags = {
  'signals-interval': microseconds({
    default: null,
    min: 1,
    defaultText: "the gateway's, else 1000000",
    help: "time between two reads of a replica's metrics",
  }),
  'router-block-size': count({
    default: null,
    min: 1,
    max: 65_536,
    defaultText: "the gateway's, else 16",
    help: "tokens per block of the gateway's prompt index (`block_size`)",
  }),
};

const engineFlags = {
  ...instanceFlags,
  model: {
    ...instanceFlags.model,
    defaultText: "that of the profile, or a gateway's own",
    help: 'the model that was served, as org/name',
  },
};

const outputs = {
  runs: count({ default: null, min: 5, max: 1000, defaultText: '11', help: 'simulations that estimate chance' }),
  format: choiceFlag({ default: 'json', known: ['json', 'table', 'csv'], help: 'output format' }),
  log: outputFlags.log,
};

const { server: _, ...accessFlags } = serverFlags;

export const whatIfGroups: CommandLine['groups'] = [
  { title: 'Recording', flags: recordedFlags },
  { title: 'Alternative', flags: askedFlags },
  { title: 'Queue of the alternative', flags: flowControlFlags },
  { title: 'Recorded engines', flags: engineFlags },
  { title: 'Recorded gateway', flags: liveFlags },
  { title: 'Access to a gateway', flags: accessFlags },
  { title: 'Output', flags: outputs },
];

export type WhatIfFlags = typeof recordedFlags &
  typeof askedFlags &
  typeof flowControlFlags &
  typeof instanceFlags &
  typeof liveFlags &
  typeof accessFlags &
  typeof outputs;

/** `name=value`, repeated: numbers and true or false as such, all else as text. */
function options(what: string): Flag<Record<string, unknown>> {
  const accepted = 'name=value';
  const read = (text: string, place: string) => {
    const pairs = text.split('\n').map((item): [string, unknown] => {
      const at = item.indexOf('=');
      if (at < 1) throw badValue(place, item, 'is not of the form name=value', accepted);
      return [item.slice(0, at).trim(), plainWord(item.slice(at + 1).trim())];
    });
    return Object.fromEntries(pairs);
  };
  const help = `${what}, repeated for each: name=value`;
  return {
    ...listFlag<Record<string, unknown>>({ default: {}, placeholder: accepted, accepted, read, help }),
    repeats: true,
  };
}

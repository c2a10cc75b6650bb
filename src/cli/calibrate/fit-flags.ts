import { whole } from '../../schema/fields.js';
import type { Flag } from '../flags/flag.js';
import { file, fraction, listFlag, MAX_INT32, stringFlag, toggle } from '../flags/kinds.js';
import { readNumber } from '../flags/read-number.js';
import { clientFlags } from '../flags/replay-workload-flags.js';
import { files } from './calibrate-flags.js';

function candidates(help: string): Flag<number[]> {
  return listFlag<number[]>({
    default: [],
    placeholder: 'list',
    accepted: 'whole numbers with commas between them',
    read: (given, place) => given.split(',').map((item) => readNumber(item.trim(), place, whole(1, MAX_INT32))),
    help,
  });
}

/** How step times are found. */
export const fitFlags = {
  fit: toggle({ help: 'find the step times that explain the traces best, and write them as a profile' }),
  'step-table': files({
    help: 'measured steps: a table of single ones, or those of a run (CSV); may be given several times',
  }),
  'held-out': fraction({ default: 0.2, zero: true, help: 'share at the end of each trace that the fit is judged by' }),
  ...clientFlags,
  'try-max-in-flight': candidates('unknown cap of the client on requests in flight, tried: n,n,...; the best is kept'),
  'try-max-num-seqs': candidates('unknown limit of requests in a batch, tried: n,n,...; the best is kept'),
  'try-max-num-batched-tokens': candidates('unknown limit of tokens in a step, tried: n,n,...; the best is kept'),
  'try-engine-rules': listFlag<string[]>({
    default: [],
    accepted: 'names of engine rules with commas between them',
    read: (given) => given.split(',').map((name) => name.trim()),
    help: 'the same of engine rules: name,name,...',
  }),
  'profile-name': stringFlag({
    default: null,
    placeholder: 'name',
    defaultText: 'that of the file',
    help: 'name of the profile',
  }),
  output: { ...file({ help: 'where the profile is written (required with --fit)' }), letter: 'o' },
};

export type FitFlags = typeof fitFlags;

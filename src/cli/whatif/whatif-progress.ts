import { bar } from '../../report/text/bar.js';
import type { CliIo } from '../io.js';

const REDRAW_MS = 100;
const WIDTH = 24;
const CLEAR = '\r\x1b[K';

const STAGES: Readonly<Record<string, string>> = {
  waiting: 'waiting for other jobs of the gateway',
  reading: 'reading the recording',
  fitting: 'fitting step times to the recording',
  checking: 'simulating the recording as it was',
  simulating: 'simulating alternatives',
  measuring: 'measuring the policy in force',
};

/** How far long work is, here or in a gateway. */
export interface ShownProgress {
  readonly stage: string;
  readonly done: number;
  readonly total: number;
  readonly detail?: string | undefined;
}

/** A line on a terminal's stderr with the stage and how far it is; nothing anywhere else. */
export function createWhatIfProgress(io: CliIo): { update(progress: ShownProgress): void; end(): void } {
  if (io.stderr.isTTY !== true) return { update: () => {}, end: () => {} };
  let drawn = Number.NEGATIVE_INFINITY;
  let stage: string | null = null;
  return {
    update(progress) {
      const now = io.now();
      if (progress.stage === stage && now - drawn < REDRAW_MS) return;
      drawn = now;
      stage = progress.stage;
      io.stderr.write(`${CLEAR}${STAGES[stage] ?? stage}${amountOf(progress)}`);
    },
    end() {
      if (drawn > Number.NEGATIVE_INFINITY) io.stderr.write(CLEAR);
      drawn = Number.NEGATIVE_INFINITY;
    },
  };
}

function amountOf({ detail = '', done, stage, total }: ShownProgress): string {
  const more = detail === '' ? '' : `  ${detail}`;
  const unit = stage === 'watching' || stage === 'measuring' ? 's' : 'runs';
  if (total > 0) return `  ${bar(done / total, WIDTH)}  ${done} of ${total} ${unit}${more}`;
  return done > 0 ? `  ${done} tries` : more;
}

import { bar } from '../../report/text/bar.js';
import type { WhatIfProgress, WhatIfStage } from '../../twin/whatif/whatif-question.js';
import type { CliIo } from '../io.js';

const REDRAW_MS = 100;
const WIDTH = 24;
const CLEAR = '\r\x1b[K';

const STAGES: Readonly<Record<WhatIfStage, string>> = {
  reading: 'reading the recording',
  fitting: 'fitting step times to the recording',
  checking: 'simulating the recording as it was',
  simulating: 'simulating alternatives',
};

/** A line on a terminal's stderr with the stage and how far it is; nothing anywhere else. */
export function createWhatIfProgress(io: CliIo): { update(progress: WhatIfProgress): void; end(): void } {
  if (io.stderr.isTTY !== true) return { update: () => {}, end: () => {} };
  let drawn = Number.NEGATIVE_INFINITY;
  let stage: WhatIfStage | null = null;
  return {
    update(progress) {
      const now = io.now();
      if (progress.stage === stage && now - drawn < REDRAW_MS) return;
      drawn = now;
      stage = progress.stage;
      io.stderr.write(`${CLEAR}${STAGES[stage]}${amountOf(progress)}`);
    },
    end() {
      if (drawn > Number.NEGATIVE_INFINITY) io.stderr.write(CLEAR);
      drawn = Number.NEGATIVE_INFINITY;
    },
  };
}

function amountOf({ done, total }: WhatIfProgress): string {
  if (total > 0) return `  ${bar(done / total, WIDTH)}  ${done} of ${total} runs`;
  return done > 0 ? `  ${done} tries` : '';
}

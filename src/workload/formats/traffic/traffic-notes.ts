import type { SettledBlocks } from './traffic-blocks.js';

/** What reading a recording has left out or guessed. */
interface TrafficFacts {
  /** Lines that end in the middle. */
  cutOff: number;
  /** Requests that were refused because of their content. */
  wrong: number;
  /** Requests without a token. */
  empty: number;
  /** Requests whose response length is not known. */
  unanswered: number;
  /** Requests by model; empty when one was chosen. */
  models: ReadonlyMap<string, number>;
  blocks: SettledBlocks | null;
}

/** The same in sentences. */
export function trafficNotes({ blocks, cutOff, empty, models, unanswered, wrong }: TrafficFacts): string[] {
  const notes: string[] = [];
  if (cutOff > 0) notes.push(`lines that end in the middle were left out: ${cutOff}`);
  if (wrong > 0) notes.push(`requests that were refused with a status of 4xx were left out: ${wrong}`);
  if (empty > 0) notes.push(`requests without a token were left out: ${empty}`);
  if (unanswered > 0) {
    const rule = 'each counts with the mean length of the responses of its model; --trace-answered leaves them out';
    notes.push(`requests without a response: ${unanswered}; ${rule}`);
  }
  if (models.size > 1) {
    const counts = [...models].map(([name, count]) => `${name === '' ? 'none' : name} (${count})`).join(', ');
    notes.push(`requests are for ${models.size} models and are taken together: ${counts}; --trace-model keeps one`);
  }
  if (blocks !== null && blocks.tokens !== blocks.recordedTokens) {
    const { recordedTokens, tokens } = blocks;
    const why = 'engines count tokens differently from the gateway';
    notes.push(`${why}: a block of ${recordedTokens} gateway tokens counts as ${tokens}`);
  }
  return notes;
}

import type { RandomStream } from '../../kernel/random-stream.js';
import type { LengthSampler } from '../lengths/length-distribution.js';
import { COUNT, MAX_TOKENS, PERCENT, TOKENS } from '../lengths/limits.js';
import { lengthSampler } from '../lengths/registry.js';
import type { LengthSpec, MultimodalSpec, TrafficSpec } from '../spec/workload-spec.js';

/** The lengths of one request; refilled for every request. */
export interface RequestDraft {
  /** Fresh tokens of the prompt. */
  input: number;
  output: number;
  text: number;
  image: number;
  audio: number;
  video: number;
  reasonRatio: number;
}

export function emptyDraft(): RequestDraft {
  return { input: 0, output: 0, text: 0, image: 0, audio: 0, video: 0, reasonRatio: 0 };
}

interface Medium {
  count: LengthSampler | null;
  tokens: LengthSampler;
}

/** The length distributions of a client, or those of one of its windows. */
export class RequestLengths {
  readonly #text: LengthSampler | null;
  readonly #output: LengthSampler;
  readonly #image: Medium | null;
  readonly #audio: Medium | null;
  readonly #video: Medium | null;
  readonly #reason: LengthSampler | null;
  readonly hasMedia: boolean;

  constructor(traffic: TrafficSpec, window: Pick<TrafficSpec, 'input_distribution' | 'output_distribution'> = {}) {
    const media: MultimodalSpec = traffic.multimodal ?? {};
    const text = window.input_distribution ?? media.text_distribution ?? traffic.input_distribution;
    this.#text = text === undefined ? null : lengthSampler(text, TOKENS);
    this.#output = lengthSampler((window.output_distribution ?? traffic.output_distribution)!, TOKENS);
    this.#image = medium(media.image_distribution, media.image_count_distribution);
    this.#audio = medium(media.audio_distribution, media.audio_count_distribution);
    this.#video = medium(media.video_distribution, media.video_count_distribution);
    const reason = traffic.reasoning?.reason_ratio_distribution;
    this.#reason = reason === undefined ? null : lengthSampler(reason, PERCENT);
    this.hasMedia = traffic.multimodal !== undefined;
  }

  get hasKinds(): boolean {
    return this.hasMedia || this.#reason !== null;
  }

  get hasReason(): boolean {
    return this.#reason !== null;
  }

  drawInput(random: RandomStream, draft: RequestDraft): void {
    draft.text = this.#text === null ? 0 : this.#text.draw(random);
    draft.input = draft.text;
  }

  /** The parts of a prompt besides text; a prompt without any tokens gets one token of text. */
  drawMedia(random: RandomStream, draft: RequestDraft): void {
    draft.image = this.#image === null ? 0 : drawMedium(this.#image, random);
    draft.audio = this.#audio === null ? 0 : drawMedium(this.#audio, random);
    draft.video = this.#video === null ? 0 : drawMedium(this.#video, random);
    if (draft.text + draft.image + draft.audio + draft.video === 0) draft.text = 1;
    draft.input = Math.min(MAX_TOKENS, draft.text + draft.image + draft.audio + draft.video);
  }

  drawOutput(random: RandomStream, draft: RequestDraft): void {
    draft.output = this.#output.draw(random);
  }

  drawReason(random: RandomStream, draft: RequestDraft): void {
    draft.reasonRatio = this.#reason!.draw(random) / 100;
  }
}

function medium(tokens: LengthSpec | undefined, count: LengthSpec | undefined): Medium | null {
  if (tokens === undefined) return null;
  return { count: count === undefined ? null : lengthSampler(count, COUNT), tokens: lengthSampler(tokens, TOKENS) };
}

function drawMedium({ count, tokens }: Medium, random: RandomStream): number {
  let sum = 0;
  for (let i = count === null ? 1 : count.draw(random); i > 0; i--) sum += tokens.draw(random);
  return Math.min(MAX_TOKENS, sum);
}

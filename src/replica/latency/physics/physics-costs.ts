import type { PhysicsCoefficients } from '../gpu-coefficients.js';
import type { RequestCosts, StepCosts, TokenPoint } from '../profile.js';
import type { ModelWork } from './model-work.js';

/** Steps of prompts above this many tokens are launched kernel by kernel. */
const LAUNCHED_ABOVE = 512;
/** Between these the time of a step is a straight line. */
const CURVE_TOKENS = [
  ...[1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024],
  ...[1536, 2048, 4096, 8192, 16_384],
];

/** The costs of steps and requests of a model on a GPU. */
export function physicsCosts(
  work: ModelWork,
  reached: PhysicsCoefficients,
): { step: StepCosts; request: RequestCosts } {
  const { layers } = work;
  const fixedUs = reached.stepUs + layers * (reached.layerUs + (work.split ? reached.splitLayerUs : 0));
  const curve = (moreUs: number): TokenPoint[] =>
    CURVE_TOKENS.map((tokens) => {
      const readingUs = work.weightsUs(tokens) / reached.weightShare;
      const computingUs = (work.tokenUs * tokens) / reached.matrixShare;
      const bothUs = overlapping(readingUs, computingUs, reached.overlap);
      const sendingUs = (work.tokenBytesSent * tokens) / (reached.linkGBs * 1e3);
      return { tokens, us: fixedUs + moreUs + bothUs + sendingUs };
    });
  const contextUs = work.contextUs / reached.contextShare;
  return {
    step: {
      decodeOnly: curve(0),
      withPrefill: curve(layers * reached.promptLayerUs),
      decodeContextUs: contextUs,
      mixedContextUs: contextUs,
      sharedContext: reached.sharedContext,
      unevenContextUs: reached.unevenContext * contextUs,
      mixedUnevenContextUs: 0,
      mixedDecodeUs: 0,
      prefillPairUs: work.pairUs / reached.attentionShare,
      prefillLongestUs: 0,
      prefillRequestUs: reached.promptUs,
      requestUs: reached.requestUs,
      crowdUs: reached.crowdUs,
      launch: { aboveTokens: LAUNCHED_ABOVE, us: layers * reached.launchLayerUs, firstUs: 0 },
    },
    request: { queueingUs: Math.round(reached.queueingUs), outputTokenUs: 0, postDecodeUs: 0 },
  };
}

/** The time of two parts that hide each other: their sum for an overlap of 1, towards the longer one for more. */
function overlapping(oneUs: number, otherUs: number, overlap: number): number {
  const longer = Math.max(oneUs, otherUs);
  return longer * (1 + (Math.min(oneUs, otherUs) / longer) ** overlap) ** (1 / overlap);
}

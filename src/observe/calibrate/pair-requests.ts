import { lengthsDiffer, nothingMatches, nothingToJudge } from './errors.js';
import type { MeasuredRequest, PredictedRequest } from './measured-request.js';

/** What lies between the client that measured and the server that is predicted. */
export interface Network {
  rttUs: number;
  /** 0: tokens themselves take no time. */
  bandwidthMbps: number;
}

/** One request on both sides, as its client sees it. */
export interface Pair {
  measured: MeasuredRequest;
  predicted: PredictedRequest;
  /** What is predicted, with the network added. */
  ttftUs: number;
  e2eUs: number;
}

export interface PairedRequests {
  /** In the order of the trace. */
  pairs: Pair[];
  requests: number;
  warmUp: number;
  /** In the trace alone, with times on neither or one side, and in the results alone. */
  unmatched: {
    notInResults: number;
    withoutResponse: number;
    notPredicted: number;
    notInTrace: number;
  };
  /** Requests that are on both sides, with a response or not. */
  both: readonly (readonly [MeasuredRequest, PredictedRequest])[];
  /** By the counts that the trace has: see `countedInputTokens`. */
  tokenMismatches: number;
  /** Those of them whose lengths are the same as soon as the whole prompt is counted. */
  prefixMismatches: number;
}

/** What a token is taken to be on the wire. */
const TOKEN_BITS = 4 * 8;
const EXAMPLES = 3;

/**
 * Puts together what was measured and what was predicted of the same request. Requests below `warmUp` are left out. Throws when
 * the two do not belong together. @param place the file of results, for errors
 */
export function pairRequests(
  measured: readonly MeasuredRequest[],
  predicted: readonly PredictedRequest[],
  { network, warmUp }: { network: Network; warmUp: number },
  place: string,
): PairedRequests {
  const byId = new Map(predicted.filter(({ id }) => id >= 0).map((one) => [one.id, one]));
  const counted = measured.filter(({ id }) => id >= warmUp);
  const both = counted.filter(({ id }) => byId.has(id));
  if (counted.length === 0) {
    const problem = `all ${measured.length} requests of the trace are warm-up`;
    throw nothingToJudge('--warmup-requests', problem, 'give fewer, or observe more requests');
  }
  if (both.length === 0) throw noneMatch(counted, predicted, place);
  checkLengths(both, byId, place);

  const pairs: Pair[] = [];
  let [withoutResponse, notPredicted, tokenMismatches, prefixMismatches] = [0, 0, 0, 0];
  for (const request of both) {
    const prediction = byId.get(request.id)!;
    if (!(request.ttftUs >= 0 && request.e2eUs >= 0)) {
      withoutResponse++;
      continue;
    }
    if (Number.isNaN(prediction.ttftUs) || Number.isNaN(prediction.e2eUs)) {
      notPredicted++;
      continue;
    }
    if (!sameTokens(request.countedInputTokens, request, prediction)) {
      tokenMismatches++;
      if (sameTokens(request.inputTokens, request, prediction)) prefixMismatches++;
    }
    pairs.push(pairOf(request, prediction, network));
  }
  if (pairs.length === 0) {
    const problem = `of ${both.length} requests on both sides ${withoutResponse} had no response and ${notPredicted} no prediction`;
    throw nothingToJudge(place, problem, 'replay without a horizon, or observe a server that responds');
  }
  return {
    pairs,
    requests: measured.length,
    warmUp: measured.length - counted.length,
    unmatched: {
      notInResults: counted.length - both.length,
      withoutResponse,
      notPredicted,
      notInTrace: predicted.length - both.length - predictedWarmUp(measured, byId, warmUp),
    },
    both: both.map((request) => [request, byId.get(request.id)!] as const),
    tokenMismatches,
    prefixMismatches,
  };
}

function predictedWarmUp(
  measured: readonly MeasuredRequest[],
  byId: ReadonlyMap<number, PredictedRequest>,
  warmUp: number,
): number {
  return measured.filter(({ id }) => id < warmUp && byId.has(id)).length;
}

function pairOf(measured: MeasuredRequest, predicted: PredictedRequest, { rttUs, bandwidthMbps }: Network): Pair {
  const sending = (tokens: number) => (bandwidthMbps > 0 ? ((tokens * TOKEN_BITS) / (bandwidthMbps * 1e6)) * 1e6 : 0);
  const before = rttUs + sending(predicted.inputTokens);
  return {
    measured,
    predicted,
    ttftUs: predicted.ttftUs + before,
    e2eUs: predicted.e2eUs + before + sending(predicted.outputTokens),
  };
}

function sameTokens(input: number, { outputTokens }: MeasuredRequest, predicted: PredictedRequest): boolean {
  return input === predicted.inputTokens && outputTokens === predicted.outputTokens;
}

/**
 * Results of the same trace have its lengths, by either count of prompt tokens. Where most differ, the results are of
 * another trace.
 */
function checkLengths(
  both: readonly MeasuredRequest[],
  byId: ReadonlyMap<number, PredictedRequest>,
  place: string,
): void {
  const others = both.filter((request) => {
    const prediction = byId.get(request.id)!;
    const { countedInputTokens, inputTokens } = request;
    return ![countedInputTokens, inputTokens].some((input) => sameTokens(input, request, prediction));
  });
  if (others.length * 2 <= both.length) return;
  const lengths = (one: { inputTokens: number; outputTokens: number }) => `${one.inputTokens} + ${one.outputTokens}`;
  const examples = others
    .slice(0, EXAMPLES)
    .map((request) => `request_${request.id} ${lengths(byId.get(request.id)!)}, not ${lengths(request)} tokens`);
  throw lengthsDiffer(place, others.length, both.length, examples.join('; '));
}

function noneMatch(measured: readonly MeasuredRequest[], predicted: readonly PredictedRequest[], place: string): Error {
  const named = (list: readonly { id: number }[]) => {
    const ids = list.slice(0, EXAMPLES).map(({ id }) => (id < 0 ? 'turn of a session' : `request_${id}`));
    return ids.join(', ') + (list.length > EXAMPLES ? ', ...' : '');
  };
  return nothingMatches(
    place,
    { measured: measured.length, predicted: predicted.length },
    { measured: named(measured), predicted: named(predicted) },
  );
}

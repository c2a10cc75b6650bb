import * as v from 'valibot';
import type { BoundedDecision } from '../../gateway/decisions/decision-ring.js';
import type { RequestExplanation } from '../../gateway/decisions/find-explanation.js';
import type { RefusalRecord } from '../../gateway/decisions/refusal-ring.js';
import { SHADOW_OUTCOMES, type ShadowDecision } from '../../gateway/decisions/shadow-decision.js';
import { KEPT_REPLICAS } from '../../gateway/history/kept-explanation.js';
import type { FlipRecord } from '../../policy/flip/flip-record.js';
import { section } from '../../schema/fields.js';
import { described, maybe, naturalNumber, nullable, numeric, string } from './parts.js';

const signal = nullable(numeric);

const RECORDED_REPLICA = section('RecordedReplica', {
  id: described(string, 'id of the replica'),
  removed: described(nullable(string), 'why it could not be chosen; null when it could'),
  queued: described(signal, 'requests waiting in the replica'),
  running: described(signal, 'requests in its batch'),
  kvUsed: described(signal, 'share of its KV cache in use, 0 to 1'),
  inFlight: described(signal, 'requests that the gateway has sent to it and that have not ended'),
  pendingPrefillTokens: described(signal, 'prompt tokens sent to it that it has not yet processed'),
  ongoingDecodeTokens: described(signal, 'tokens of the requests that it is decoding'),
  routedBlocks: described(signal, 'leading blocks of the prompt that were routed to it before'),
  ageUs: described(signal, 'age of its reported signals in microseconds; null when it never reported any'),
  score: described(signal, 'its score; null where the policy has none'),
  missing: described(v.array(string), 'signals that it did not report, or that were stale: their values were assumed'),
  terms: described(v.record(v.string(), signal), 'what its score is made of, by name'),
});

const SHADOW_DECISION: v.GenericSchema<unknown, ShadowDecision> = section('ShadowDecision', {
  shadow: described(string, 'name of the shadow'),
  policy: described(string, 'its routing policy'),
  replica: described(
    nullable(string),
    'the replica it chose where requests are placed by the policy that serves; null where it would refuse the request',
  ),
  outcome: described(v.picklist(SHADOW_OUTCOMES), 'how that compares with the choice of the policy that serves'),
  ownReplica: described(nullable(string), 'the replica it chose where it had placed all requests before itself'),
  ttftDifferenceMs: described(
    nullable(numeric),
    'predicted TTFT of its choice minus that of the replica that served, in milliseconds; null where it is not known',
  ),
});

const decision = {
  id: described(string, 'request id'),
  endpoint: described(string, 'endpoint: name, or workspace/name'),
  policy: described(string, 'routing policy'),
  policyHash: described(string, 'hash of the policy with its options'),
  atUs: described(numeric, 'time of the decision in microseconds since the gateway started'),
  inputTokens: described(numeric, 'prompt tokens'),
  session: described(string, 'session; empty without one'),
  blockSize: described(naturalNumber, 'tokens per block'),
  blockCount: described(naturalNumber, 'blocks of the prompt'),
  replica: described(nullable(string), 'the chosen replica; null when there was none'),
  attempt: described(naturalNumber, 'number of the attempt'),
  rule: described(string, 'the rule by which it was chosen, or why the request was refused'),
  tied: described(naturalNumber, 'replicas with the best score'),
  replicas: described(v.array(RECORDED_REPLICA), 'every replica as the policy saw it'),
  shadows: described(
    v.array(SHADOW_DECISION),
    'what shadow policies chose; one that did not decide about it is missing',
  ),
};

const FLIP: v.GenericSchema<unknown, FlipRecord> = section('Flip', {
  change: described(
    nullable(
      section('FlipChange', {
        replica: described(string, 'the replica whose signal would have been different'),
        signal: described(string, 'the signal, by its name in this document'),
        from: described(numeric, 'its value in the decision'),
        to: described(numeric, 'the nearest value with another choice'),
        chosen: described(
          nullable(string),
          'the replica that would have been chosen; null where the request would have been refused',
        ),
      }),
    ),
    'the smallest change of one signal of one replica with another choice; null when there is none within the bounds',
  ),
  bounds: described(
    v.record(v.string(), v.strictTuple([v.number(), v.number()])),
    'signals that the policy reads, each with the least and the greatest value that were tried',
  ),
  replicas: described(naturalNumber, 'replicas whose signals were changed, one at a time'),
  eligible: described(naturalNumber, 'replicas that could be chosen'),
  exhaustive: described(v.boolean(), 'whether every nearer value was tried; otherwise some, at growing distances'),
});

const LIMIT = section('RefusingLimit', {
  name: described(string, 'name of the limit, such as tokens_per_day'),
  scope: described(string, 'a model, or * for all together'),
  most: described(numeric, 'the limit'),
  left: described(numeric, 'what was left of it'),
  needed: described(numeric, 'what the request needed'),
});

const SHORTFALL = section('Shortfall', {
  name: described(string, 'what the admission policy looked at, such as the tokens in its bucket'),
  value: described(numeric, 'how much there was of it'),
  needed: described(v.picklist(['at least', 'at most', 'below']), 'how it has to be compared with the bound'),
  bound: described(numeric, 'with how much the request would have been admitted'),
});

const REFUSAL: v.GenericSchema<unknown, RefusalRecord> = section('RefusedRequest', {
  id: described(string, 'request id'),
  endpoint: described(nullable(string), 'endpoint; null when the request reached none'),
  key: described(nullable(string), 'id of its API key; null without one'),
  arrivedUs: described(numeric, 'time of arrival in microseconds since the gateway started'),
  atUs: described(numeric, 'time of the refusal in microseconds since the gateway started'),
  at: described(string, 'the same as a date'),
  status: described(naturalNumber, 'HTTP status of the response'),
  code: described(string, 'error code of the response'),
  by: described(string, 'what refused it'),
  limit: described(nullable(LIMIT), 'the limit that refused it, if any'),
  shortfall: described(nullable(SHORTFALL), 'what it lacked to be admitted, where the admission policy can tell'),
  retryAfterS: described(nullable(numeric), 'seconds until a retry may succeed; null when unknown or no retry helps'),
  retryAt: described(nullable(string), 'the same as a date'),
});

export const DECISION: v.GenericSchema<unknown, BoundedDecision> = section('Decision', {
  ...decision,
  replicas: described(
    v.array(RECORDED_REPLICA),
    `the chosen replica and its nearest rivals as the policy saw them, at most ${KEPT_REPLICAS}; the explanation of the request has all`,
  ),
  replicaCount: described(naturalNumber, 'replicas that the policy saw'),
});

/** A decision, a refusal, or both when no replica could take the request. */
export const EXPLANATION: v.GenericSchema<unknown, RequestExplanation> = v.pipe(
  v.union([
    section('ExplainedDecision', {
      ...decision,
      flip: described(
        nullable(FLIP),
        'what would have flipped it; null when the decision cannot be repeated, or with flipNotKept',
      ),
      flipNotKept: maybe(
        v.boolean(),
        'true where what would have flipped it is not known: the store took the request without it, for lack of time',
      ),
      refused: maybe(REFUSAL, 'how the request was refused afterwards'),
      replicaCount: maybe(
        naturalNumber,
        'replicas that the policy saw: present where the store kept only some of them, the chosen one and its nearest rivals',
      ),
    }),
    section('ExplainedRefusal', {
      id: described(string, 'request id'),
      refused: described(REFUSAL, 'how the request was refused'),
    }),
  ]),
  v.metadata({ title: 'Explanation' }),
);

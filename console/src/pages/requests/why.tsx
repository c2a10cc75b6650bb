import { Badge, NumberHead, TablePlace } from '../../parts/basics';
import { whole } from '../../parts/format';
import { ScoreBars } from './score-bars';
import type { ShadowChoice } from './shadow-choices';

export interface Candidate {
  readonly id: string;
  readonly removed: string | null;
  readonly queued: number | null;
  readonly running: number | null;
  readonly kvUsed: number | null;
  readonly inFlight: number | null;
  readonly routedBlocks: number | null;
  readonly ageUs: number | null;
  readonly score: number | null;
  readonly missing: readonly string[];
  readonly terms: Readonly<Record<string, number | null>>;
}

export interface Explanation {
  readonly id: string;
  readonly policy?: string;
  readonly rule?: string;
  readonly tied?: number;
  readonly blockCount?: number;
  readonly replica?: string | null;
  readonly replicas?: readonly Candidate[];
  /** How many the policy saw, where the store kept only some of them. */
  readonly replicaCount?: number;
  readonly flip?: {
    readonly change: {
      readonly replica: string;
      readonly signal: string;
      readonly from: number;
      readonly to: number;
      /** Null where the request would have been refused. */
      readonly chosen: string | null;
    } | null;
    readonly exhaustive: boolean;
  } | null;
  /** Whether the store took the request without a search for it. */
  readonly flipNotKept?: boolean;
  readonly shadows?: readonly ShadowChoice[];
  readonly refused?: {
    readonly by: string;
    readonly status: number;
    readonly retryAfterS: number | null;
    readonly limit: {
      readonly name: string;
      readonly scope: string;
      readonly most: number;
      readonly left: number;
      readonly needed: number;
    } | null;
    /** What it lacked to be admitted. */
    readonly shortfall: {
      readonly name: string;
      readonly value: number;
      readonly needed: string;
      readonly bound: number;
    } | null;
  };
}

/** The decision: the rule, and every candidate as the policy saw it. */
export function Why({ explanation }: { readonly explanation: Explanation }) {
  const { blockCount = 0, policy, refused, replica, replicas, rule, tied = 0 } = explanation;
  return (
    <>
      {refused === undefined ? null : (
        <p className="padded">
          Refused with status {refused.status}: {refused.by}
          {refused.limit === null ? '' : ` (${limitText(refused.limit)})`}
          {refused.shortfall === null ? '' : ` (${shortfallText(refused.shortfall)})`}
          {refused.retryAfterS === null ? '' : `; a retry may succeed after ${refused.retryAfterS} s`}
        </p>
      )}
      {replicas === undefined ? null : (
        <>
          <p className="padded">
            <strong>{policy}</strong> chose <strong>{replica ?? 'no replica'}</strong>: {rule}
            {tied > 1 ? `, one of ${tied} with the best score` : ''}.
            {(explanation.replicaCount ?? 0) > replicas.length
              ? ` The store kept the nearest ${replicas.length} of ${explanation.replicaCount} candidates.`
              : ''}
          </p>
          {replica === null && replicas.every(({ removed }) => removed !== null) ? null : (
            <Flip flip={explanation.flip ?? null} isNotKept={explanation.flipNotKept ?? false} />
          )}
          <ScoreBars replicas={replicas} chosen={replica ?? null} />
          <TablePlace name="Candidates">
            <table className="table table-dense">
              <thead>
                <tr>
                  <th scope="col">Candidate</th>
                  <NumberHead>Score</NumberHead>
                  <NumberHead>In flight</NumberHead>
                  <NumberHead>Running</NumberHead>
                  <NumberHead>Queue</NumberHead>
                  <NumberHead>KV used</NumberHead>
                  <NumberHead>Cached blocks</NumberHead>
                  <NumberHead>Signal age</NumberHead>
                  <th scope="col">Note</th>
                </tr>
              </thead>
              <tbody>
                {replicas.map((one) => (
                  <tr key={one.id}>
                    <td>
                      {one.id} {one.id === replica ? <Badge tone="info">chosen</Badge> : null}
                    </td>
                    <td className="number" data-exact={one.score ?? undefined}>
                      {digits(one.score)}
                    </td>
                    <td className="number">{count(one.inFlight)}</td>
                    <td className="number">{count(one.running)}</td>
                    <td className="number">{count(one.queued)}</td>
                    <td className="number" data-exact={one.kvUsed ?? undefined}>
                      {one.kvUsed === null ? '–' : `${(100 * one.kvUsed).toFixed(1)} %`}
                    </td>
                    <td className="number">
                      {count(one.routedBlocks)} / {blockCount}
                    </td>
                    <td className="number" data-exact={one.ageUs === null ? undefined : one.ageUs / 1000}>
                      {one.ageUs === null ? '–' : `${(one.ageUs / 1000).toFixed(0)} ms`}
                    </td>
                    <td className="muted">
                      {one.removed ?? (one.missing.length === 0 ? '' : `assumed: ${one.missing.join(', ')}`)}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </TablePlace>
        </>
      )}
    </>
  );
}

type Limit = NonNullable<NonNullable<Explanation['refused']>['limit']>;
type Shortfall = NonNullable<NonNullable<Explanation['refused']>['shortfall']>;

const limitText = ({ left, most, name, needed, scope }: Limit) =>
  `${name.replaceAll('_', ' ')} of ${scope === '*' ? 'all models' : scope}: ${whole(left)} of ${whole(most)} left, and it counts for ${whole(needed)}`;

const shortfallText = ({ bound, name, needed, value }: Shortfall) =>
  `${name}: ${digits(value)}, and ${needed} ${digits(bound)} lets it in`;

const count = (value: number | null) => (value === null ? '–' : whole(value));
const digits = (value: number | null) => (value === null ? '–' : Number(value.toPrecision(4)).toString());

/** The smallest change that would have led to another choice. */
function Flip({
  flip,
  isNotKept,
}: {
  readonly flip: NonNullable<Explanation['flip']> | null;
  readonly isNotKept: boolean;
}) {
  if (flip === null) {
    return (
      <p className="padded flip muted">
        {isNotKept
          ? 'What would have flipped it is not known: the gateway had no time to search it before the request left its memory.'
          : 'What would have flipped it cannot be said: the decision cannot be repeated.'}
      </p>
    );
  }
  const { change } = flip;
  return (
    <p className="padded flip">
      {change === null ? (
        `No change of one signal would have flipped it${flip.exhaustive ? '' : ', as far as was tried'}.`
      ) : (
        <>
          What would have flipped it: {change.signal} of <strong>{change.replica}</strong> at {digits(change.to)}{' '}
          instead of {digits(change.from)}; then <strong>{change.chosen ?? 'refused'}</strong>.
        </>
      )}
    </p>
  );
}

import { Badge, NumberHead, TablePlace, type Tone } from '../../parts/basics';
import { milliseconds } from '../../parts/format';

export interface ShadowChoice {
  readonly shadow: string;
  readonly policy: string;
  readonly replica: string | null;
  readonly outcome: string;
  readonly ownReplica: string | null;
  readonly ttftDifferenceMs: number | null;
}

const OUTCOMES: Readonly<Record<string, readonly [Tone, string]>> = {
  same: ['good', 'the same'],
  tied: ['idle', 'scores it the same: a draw decided'],
  different: ['warn', 'another replica'],
  forced: ['idle', 'the only candidate'],
};

/** What the shadows would have done with the request, by both readings. */
export function ShadowChoices({
  choices,
  serving,
}: {
  readonly choices: readonly ShadowChoice[];
  readonly serving: string;
}) {
  if (choices.length === 0) {
    return (
      <p className="padded muted">
        No shadow decided about it. Shadows are added on the page of the endpoint; one that has no time drops decisions.
      </p>
    );
  }
  return (
    <>
      <TablePlace name="What the shadows would have done">
        <table className="table table-dense">
          <thead>
            <tr>
              <th scope="col">Shadow</th>
              <th scope="col">On the real placements</th>
              <th scope="col">Compared with {serving}</th>
              <NumberHead>Predicted first token</NumberHead>
              <th scope="col">On its own placements</th>
            </tr>
          </thead>
          <tbody>
            {choices.map(({ outcome, ownReplica, policy, replica, shadow, ttftDifferenceMs }) => {
              const [tone, words] = OUTCOMES[outcome] ?? ['idle', outcome];
              return (
                <tr key={shadow}>
                  <th scope="row">
                    {shadow} {shadow === policy ? null : <span className="muted">{policy}</span>}
                  </th>
                  <td>{replica ?? 'would refuse it'}</td>
                  <td>
                    <Badge tone={tone}>{words}</Badge>
                  </td>
                  <td className="number">{later(ttftDifferenceMs)}</td>
                  <td>{ownReplica ?? 'would refuse it'}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </TablePlace>
      <p className="padded muted">
        On the real placements requests are where {serving} put them; on its own, where the shadow would have put them
        all since it began.
      </p>
    </>
  );
}

function later(ms: number | null): string {
  if (ms === null) return '–';
  return `${milliseconds(Math.abs(ms))} ${ms <= 0 ? 'sooner' : 'later'}`;
}

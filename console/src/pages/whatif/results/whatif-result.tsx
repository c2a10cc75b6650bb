import { Badge, Bar, Card, NumberHead, TablePlace, type Tone } from '../../../parts/basics';
import type { PageAddress } from '../../../parts/copy-link';
import { percent, whole } from '../../../parts/format';
import type { Alternative, BaselineMetric, Prediction, WhatIf } from '../documents';
import { metricChange, metricName, metricValue } from '../metric-text';
import { type AskedPolicy, besidesRouting } from '../question';
import { ServePolicy } from '../switch/serve-policy';
import { DifferenceTable } from './difference-table';
import { Evidence, Notes } from './evidence';
import { Interval, reachOf } from './interval';
import { namedAlternatives } from './named-alternatives';
import { PolicyPicture } from './policy-picture';
import { Verdict } from './verdict';

const CLAIMS: Readonly<Record<Prediction['claim'], readonly [Tone, string]>> = {
  better: ['good', 'better'],
  worse: ['bad', 'worse'],
  none: ['idle', 'not claimed'],
};

interface WhatIfResultProps {
  readonly called: string;
  readonly asked: Readonly<Record<string, unknown>>;
  readonly address: PageAddress;
  readonly result: WhatIf;
}

export function WhatIfResult({ address, asked, called, result: found }: WhatIfResultProps) {
  const policies = (asked.policies ?? []) as readonly AskedPolicy[];
  const result = namedAlternatives(found, policies);
  const { alternatives, baseline, notes, recording } = result;
  const isOne = alternatives.length === 1;
  return (
    <>
      <Verdict
        text={verdictOf(result)}
        isRefused={alternatives.every(({ refused }) => refused !== null)}
        address={address}
      />
      <Evidence recording={recording} baseline={baseline} />
      {isOne ? null : (
        <>
          <PolicyPicture alternatives={alternatives} baseline={baseline.metrics} />
          <DifferenceTable alternatives={alternatives} baseline={baseline.metrics} />
        </>
      )}
      {alternatives.map((one, i) => (
        <Card
          key={one.name}
          title={isOne ? `As it was, and with ${one.name}` : one.name}
          actions={
            policies[i] === undefined ? null : (
              <ServePolicy called={called} choice={policies[i]} notChanged={besidesRouting(asked)} />
            )
          }
        >
          {isOne ? (
            <Comparison alternative={one} baseline={baseline.metrics} />
          ) : (
            <>
              <p className="padded">{one.verdict}</p>
              <details className="spread">
                <summary>All metrics with their intervals</summary>
                <Comparison alternative={one} baseline={baseline.metrics} />
              </details>
            </>
          )}
          <Spread alternative={one} />
        </Card>
      ))}
      <Notes notes={[...baseline.profile.notes, ...notes]} />
    </>
  );
}

/** A reason that holds for all policies is said once. */
function verdictOf({ alternatives, verdict }: WhatIf): string {
  const [first] = alternatives;
  const refused = first?.refused ?? null;
  const isSame = alternatives.length > 1 && alternatives.every((one) => one.refused === refused);
  if (!isSame || refused === null) return verdict;
  return `No difference can be claimed for ${alternatives.map(({ name }) => name).join(', ')}: ${refused}.`;
}

interface ComparisonProps {
  readonly alternative: Alternative;
  readonly baseline: readonly BaselineMetric[];
}

/** As it was (measured), as simulated (the check), and as it would have been. */
function Comparison({ alternative, baseline }: ComparisonProps) {
  const { metrics, refused, runs } = alternative;
  const reach = reachOf(metrics);
  return (
    <>
      <TablePlace name={`As it was, and with ${alternative.name}`}>
        <table className="table table-dense">
          <thead>
            <tr>
              <th scope="col">Metric</th>
              <NumberHead>As it was</NumberHead>
              <NumberHead>As simulated</NumberHead>
              <NumberHead>Error</NumberHead>
              <NumberHead>As it would have been</NumberHead>
              <NumberHead>Change</NumberHead>
              <th scope="col" className="interval-head">
                <span className="interval-scale">
                  <span>{metricChange('', -reach)}</span>
                  <span>as it was</span>
                  <span>{metricChange('', reach)}</span>
                </span>
              </th>
              <NumberHead>95 % interval</NumberHead>
              <th scope="col">Difference</th>
            </tr>
          </thead>
          <tbody>
            {metrics.map((one) => {
              const check = baseline.find(({ metric }) => metric === one.metric);
              const [tone, word] = refused === null ? CLAIMS[one.claim] : CLAIMS.none;
              return (
                <tr key={one.metric}>
                  <th scope="row">{metricName(one.metric)}</th>
                  <td className="number">{metricValue(one.metric, one.was)}</td>
                  <td className="number muted">
                    {check === undefined ? '–' : metricValue(one.metric, check.simulated)}
                  </td>
                  <td className="number muted">{check === undefined ? '–' : metricChange(one.metric, check.error)}</td>
                  <td className="number">
                    <strong>{metricValue(one.metric, one.predicted)}</strong>
                  </td>
                  <td className="number">{metricChange(one.metric, one.change)}</td>
                  <td>
                    <Interval prediction={refused === null ? one : { ...one, claim: 'none' }} reach={reach} />
                  </td>
                  <td className="number muted">
                    {metricValue(one.metric, one.low)} to {metricValue(one.metric, one.high)}
                  </td>
                  <td>
                    <Badge tone={tone}>{word}</Badge>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </TablePlace>
      <p className="padded muted">
        {refused === null
          ? `Intervals hold what would be measured in 95 of 100 cases, by ${runs} simulations: the error of the recording as simulated, of step times, and of chance. A difference whose interval holds what was measured is not claimed.`
          : `Nothing is claimed: ${refused}.`}
      </p>
    </>
  );
}

/** How requests would have spread over the replicas. */
function Spread({ alternative }: { readonly alternative: Alternative }) {
  const { perReplica, rejected } = alternative;
  const most = Math.max(1, ...perReplica);
  return (
    <details className="spread">
      <summary>
        Requests on each replica
        {rejected > 0 ? `; ${percent(rejected)} of the requests refused` : ''}
      </summary>
      <ul>
        {perReplica.slice(0, 64).map((count, i) => (
          <li key={`${i + 1} of ${perReplica.length}`}>
            <span className="muted">{i + 1}</span>
            <Bar share={count / most} />
            <span className="number">{whole(count)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Button, Card } from '../../../parts/basics';
import { AsCommand } from '../../../parts/command';
import { CopyLink, type PageAddress } from '../../../parts/copy-link';
import { besidesRouting } from '../form/lab-question';
import type { LabResult, LabVariant, ReplicaFacts } from '../lab-document';
import { LatencyCard } from './latency-card';
import { atLoad, LoadCurve, loadsOf } from './load-curve';
import { MetricTable } from './metric-table';
import { ReplicaHeat } from './replica-heat';
import { SaveRun } from './save-run';
import { ServeThis } from './serve-this';
import { TimelineCard } from './timeline-card';

const route = getRouteApi('/lab');

/** An experiment that is done: a job, or a saved one. */
export interface FinishedRun {
  readonly workspace: string;
  readonly asked: Readonly<Record<string, unknown>>;
  readonly commands: readonly string[];
  readonly ranAt: string;
  /** Absent where it is saved already. */
  readonly job?: string;
  /** Where it is shown, with its experiment. */
  readonly address: PageAddress;
}

/** What an experiment found: the verdict, then numbers, then pictures. */
export function LabResults({ result, run }: { readonly run: FinishedRun; readonly result: LabResult }) {
  const { load } = route.useSearch();
  const navigate = route.useNavigate();
  const { comparison, variants } = result.document;
  const loads = loadsOf(result);
  const chosen = loads.find((one) => String(one) === load) ?? loads.at(-1) ?? null;
  const shown = useMemo(() => (chosen === null ? result : atLoad(result, chosen)), [result, chosen]);
  const { config } = variants[0]!;
  const warnings = [...result.warnings, ...comparison.notes];
  return (
    <>
      <p className="verdict" role="status">
        {result.verdict}
      </p>
      <div className="verdict-actions lab-actions">
        <ServeThis
          workspace={run.workspace}
          variants={shown.document.variants}
          policies={(run.asked as { readonly policies: readonly string[] }).policies}
          notChanged={[...besidesRouting(run.asked), fleetWords(config)]}
        />
        {run.job === undefined ? null : <SaveRun workspace={run.workspace} job={run.job} asked={run.asked} />}
        <Button onClick={() => download(run, result)}>Download</Button>
        <CopyLink address={run.address} />
        <span className="muted">
          {fleetWords(config)}, {comparison.seeds.length} {comparison.seeds.length === 1 ? 'seed' : 'seeds'},{' '}
          {comparison.runs} runs
        </span>
      </div>
      <AsCommand commands={run.commands} />
      {warnings.length === 0 ? null : (
        <ul className="lab-notes lab-warnings" aria-label="Warnings">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      {chosen === null ? null : (
        <>
          <LoadCurve result={result} />
          <div className="segments lab-loads">
            {loads.map((one) => (
              <label key={one}>
                <input
                  type="radio"
                  name="load"
                  checked={one === chosen}
                  onChange={() =>
                    void navigate({
                      search: (before) => ({ ...before, load: String(one) }),
                      replace: true,
                      resetScroll: false,
                    })
                  }
                />
                <span>{one} requests/s</span>
              </label>
            ))}
          </div>
        </>
      )}
      <Card title={chosen === null ? 'Measures' : `Measures at ${chosen} requests/s`}>
        <MetricTable result={shown} />
        <div className="muted padded">
          {[comparison.intervals, ...comparison.step_times].map((line) => (
            <p key={line}>{line}</p>
          ))}
        </div>
      </Card>
      <LatencyCard result={shown} />
      <TimelineCard result={shown} />
      <ReplicaHeat curves={shown.curves} kinds={config.fleet?.map(({ count, replica }) => [count, replica.hardware])} />
      <Card title="What differs">
        <ul className="lab-notes">
          {shown.document.findings.map((finding) => (
            <li key={finding}>{finding}</li>
          ))}
        </ul>
      </Card>
    </>
  );
}

/** `4 × qwen3-14b on 1 × H100`, or each kind of a mixed fleet. */
function fleetWords({ fleet, instances, replica }: LabVariant['config']): string {
  const on = ({ hardware, tp }: ReplicaFacts) => `${tp} × ${hardware}`;
  if (fleet === undefined) return `${instances} × ${replica.model} on ${on(replica)}`;
  return `${instances} × ${replica.model}: ${fleet.map((kind) => `${kind.count} on ${on(kind.replica)}`).join(', ')}`;
}

/** The experiment with its question, commands and result, as a file. */
function download({ asked, commands, ranAt }: FinishedRun, result: LabResult): void {
  const content = JSON.stringify({ created_at: ranAt, asked, commands, result }, null, 2);
  const url = URL.createObjectURL(new Blob([content], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `twinyard-lab-${ranAt.slice(0, 19).replaceAll(':', '-')}.json`;
  link.click();
  URL.revokeObjectURL(url);
}

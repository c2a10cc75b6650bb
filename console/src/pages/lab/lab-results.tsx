import type { Job } from '../../api/jobs';
import { Button, Card } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { CopyLink } from '../../parts/copy-link';
import type { LabResult } from './lab-document';
import { LatencyCard } from './latency-card';
import { MetricTable } from './metric-table';
import { ReplicaHeat } from './replica-heat';
import { ServeThis } from './serve-this';
import { TimelineCard } from './timeline-card';

/** What an experiment found: the verdict, then numbers, then pictures. */
export function LabResults({ job, result }: { readonly job: Job<LabResult>; readonly result: LabResult }) {
  const { comparison, findings, variants } = result.document;
  const { hardware, model, tp } = variants[0]!.config.replica;
  const { instances } = variants[0]!.config;
  const notes = [...result.warnings, ...comparison.notes, ...comparison.step_times];
  return (
    <>
      <p className="verdict" role="status">
        {result.verdict}
      </p>
      <div className="verdict-actions lab-actions">
        <ServeThis workspace={job.workspace} variants={variants} />
        <Button onClick={() => save(job, result)}>Save</Button>
        <CopyLink />
        <span className="muted">
          {instances} × {model} on {tp} × {hardware}, {comparison.seeds.length}{' '}
          {comparison.seeds.length === 1 ? 'seed' : 'seeds'}, {comparison.runs} runs
        </span>
      </div>
      <AsCommand commands={job.commands} />
      <Card title="Measures">
        <MetricTable result={result} />
        <p className="muted padded">{comparison.intervals}</p>
      </Card>
      <LatencyCard result={result} />
      <TimelineCard result={result} />
      <ReplicaHeat curves={result.curves} />
      <Card title="What differs">
        <ul className="lab-notes">
          {findings.map((finding) => (
            <li key={finding}>{finding}</li>
          ))}
        </ul>
        {notes.length === 0 ? null : (
          <ul className="lab-notes muted">
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        )}
      </Card>
    </>
  );
}

/** The experiment with its question, commands and result, as a file. */
function save({ asked, commands, created_at, id }: Job<LabResult>, result: LabResult): void {
  const content = JSON.stringify({ id, created_at, asked, commands, result }, null, 2);
  const url = URL.createObjectURL(new Blob([content], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `twinyard-lab-${id.slice(0, 8)}.json`;
  link.click();
  URL.revokeObjectURL(url);
}

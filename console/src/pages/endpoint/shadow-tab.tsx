import { useMay } from '../../api/access';
import { pathOf } from '../../api/client';
import { useChange, useGet } from '../../api/queries';
import type { LiveEndpoint, Page } from '../../api/types';
import { Badge, Bar, Button, Card } from '../../parts/basics';
import { milliseconds, percent, whole } from '../../parts/format';
import { Empty, Failure, Loading } from '../../parts/states';
import { AddShadow } from './add-shadow';

interface Reading {
  readonly agreement: number | null;
  readonly classes: readonly {
    readonly slo_class: string;
    readonly same: number;
    readonly tied: number;
    readonly different: number;
    readonly forced: number;
  }[];
}

interface Shadow {
  readonly name: string;
  readonly policy: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly source: 'configuration' | 'added';
  readonly serving_policy: string;
  readonly age_s: number;
  readonly dropped: number;
  readonly dropped_busy: number;
  readonly stopped: { readonly age_s: number; readonly problem: string } | null;
  readonly on_real_placements: Reading;
  readonly on_own_placements: Reading;
  readonly known_prefix: { readonly real: number; readonly own: number } | null;
  readonly predicted_ttft: {
    readonly decisions: number;
    readonly mean_difference_ms: number | null;
    readonly real_mean_ms: number | null;
    readonly own_mean_ms: number | null;
  };
}

/** Policies that decide about the same requests and change nothing, and how often they agree with the one that serves. */
export function ShadowTab({ base, endpoint }: { readonly endpoint: LiveEndpoint; readonly base: string }) {
  const mayChange = useMay('operator', endpoint.workspace);
  const { data, error, refetch } = useGet<Page<Shadow>>(`${base}/shadows?limit=100`, { everyMs: 2000 });
  if (data === undefined) {
    return error === null ? <Loading /> : <Failure error={error} onRetry={() => void refetch()} />;
  }
  const serving = endpoint.policy.routing?.policy ?? '';
  return (
    <>
      <p className="lead">
        A shadow sees every request and the same fleet as <strong>{serving}</strong>, decides, and changes nothing. It
        decides twice: on the <strong>real placements</strong>, where requests are where {serving} put them (how often
        would it decide otherwise?), and on <strong>its own placements</strong>, as if it had placed them all itself
        (what would the fleet have become?).
      </p>
      {data.items.length === 0 ? (
        <Card>
          <Empty title="No shadow yet" command="twinyard shadow add lmetric">
            Add one to see whether another policy would decide otherwise.
          </Empty>
        </Card>
      ) : null}
      {data.items.map((one) => (
        <ShadowCard key={one.name} base={base} shadow={one} mayChange={mayChange} />
      ))}
      {mayChange ? <AddShadow base={base} endpoint={endpoint} taken={data.items.map(({ name }) => name)} /> : null}
    </>
  );
}

function ShadowCard({ base, mayChange, shadow }: { base: string; shadow: Shadow; mayChange: boolean }) {
  const remove = useChange();
  const options = Object.entries(shadow.options);
  return (
    <Card
      title={
        <>
          {shadow.name}
          <span className="muted">
            {shadow.name === shadow.policy ? '' : ` · ${shadow.policy}`}
            {options.length === 0 ? '' : ` · ${options.map(([key, value]) => `${key}=${String(value)}`).join(', ')}`}
          </span>
        </>
      }
      actions={
        <>
          {shadow.stopped === null ? null : <Badge tone="bad">stopped</Badge>}
          {shadow.dropped === 0 ? null : (
            <Badge tone="warn" title="The gateway had no time for them; they are chosen at random">
              {whole(shadow.dropped)} decisions dropped
            </Badge>
          )}
          <span className="muted">since {milliseconds(1000 * shadow.age_s)}</span>
          {shadow.source === 'configuration' ? (
            <span className="muted">in the configuration</span>
          ) : mayChange ? (
            <Button
              disabled={remove.isPending}
              aria-label={`Remove the shadow ${shadow.name}`}
              onClick={() => remove.mutate({ method: 'DELETE', path: `${base}/shadows/${pathOf(shadow.name)}` })}
            >
              Remove
            </Button>
          ) : (
            <span className="muted">until the gateway stops</span>
          )}
        </>
      }
    >
      {remove.error === null ? null : <Failure error={remove.error} />}
      {shadow.stopped === null ? null : (
        <p className="padded">
          Its policy failed {milliseconds(1000 * shadow.stopped.age_s)} ago, and it decides no longer:{' '}
          {shadow.stopped.problem}
        </p>
      )}
      <div className="readings">
        <ReadingPart
          title="On the real placements"
          about={`where ${shadow.serving_policy} put all requests`}
          reading={shadow.on_real_placements}
          prefix={shadow.known_prefix?.real ?? null}
          ttft={shadow.predicted_ttft.real_mean_ms}
        />
        <ReadingPart
          title="On its own placements"
          about={`as if ${shadow.policy} had put them`}
          reading={shadow.on_own_placements}
          prefix={shadow.known_prefix?.own ?? null}
          ttft={shadow.predicted_ttft.own_mean_ms}
        />
      </div>
      <p className="padded muted">{differenceText(shadow)}</p>
    </Card>
  );
}

function differenceText({ predicted_ttft: { decisions, mean_difference_ms: difference }, serving_policy }: Shadow) {
  if (difference === null) {
    return 'No difference of TTFT is predicted: that needs decisions that differ and a latency profile of the replicas.';
  }
  const side = difference < 0 ? 'sooner' : 'later';
  const count = `${whole(decisions)} decision${decisions === 1 ? '' : 's'}`;
  return `Where it differs from ${serving_policy} (${count} with a prediction), its choice would give the first token ${milliseconds(Math.abs(difference))} ${side} on average, as the latency profile predicts.`;
}

interface ReadingProps {
  readonly title: string;
  readonly about: string;
  readonly reading: Reading;
  readonly prefix: number | null;
  readonly ttft: number | null;
}

function ReadingPart({ about, prefix, reading, title, ttft }: ReadingProps) {
  const { agreement, classes } = reading;
  return (
    <section>
      <h3>{title}</h3>
      <p className="muted">{about}</p>
      <p className="agreement">
        <strong>{agreement === null ? '–' : percent(agreement)}</strong> agreement
        <Bar share={agreement ?? 0} tone={agreement === null ? 'idle' : 'info'} />
      </p>
      <ul className="plain">
        {classes.map(({ different, forced, same, slo_class, tied }) => (
          <li key={slo_class}>
            <strong>{slo_class}</strong>: {whole(same)} same, {whole(tied)} tied, {whole(different)} different
            {forced === 0 ? '' : `, ${whole(forced)} with one candidate`}
          </li>
        ))}
        <li className="muted">
          {prefix === null ? 'no prompt seen yet' : `${percent(prefix)} of prompt tokens known to the chosen replica`}
        </li>
        {ttft === null ? null : <li className="muted">predicted TTFT {milliseconds(ttft)} on average</li>}
      </ul>
    </section>
  );
}

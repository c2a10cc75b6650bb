import { useMay } from '../../api/access';
import { useChange, useGet, useSession } from '../../api/queries';
import { Button, Card, PageHead } from '../../parts/basics';
import { AsCommand, Command } from '../../parts/command';
import { quoted } from '../../parts/commands';
import { Failure, Loading } from '../../parts/states';

type Configuration = Readonly<Record<string, unknown>>;

const PARTS: readonly { readonly title: string; readonly keys: readonly string[] }[] = [
  {
    title: 'Gateway',
    keys: ['listen', 'admin', 'timeouts', 'limits', 'health', 'breaker', 'retries', 'signals', 'drainMs', 'seed'],
  },
  { title: 'Access', keys: ['access', 'http', 'prices'] },
  { title: 'Store', keys: ['store', 'requests', 'dataDir', 'leaderLease'] },
  { title: 'Telemetry', keys: ['record', 'accessLog', 'decisionLog', 'tracing'] },
];

/** The configuration in force, without passwords. */
export function SettingsPage() {
  const { data: session } = useSession();
  const mayRead = useMay('viewer');
  const mayReload = useMay('operator');
  const reload = useChange<Reloaded>();
  const { data, error, refetch } = useGet<Configuration>(mayRead ? 'config' : null);
  return (
    <>
      <PageHead
        title="Settings"
        about="The configuration in force, without passwords"
        actions={mayReload ? <Reload change={reload} /> : null}
      />
      {reload.error === null ? null : <Failure error={reload.error} />}
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      <Card title="About">
        <dl className="facts">
          <dt>Version</dt>
          <dd>{session?.version}</dd>
          <dt>For clients</dt>
          <dd>
            <code>{session?.gateway_url}</code>
          </dd>
          <dt>API</dt>
          <dd>
            <a href="/api/v1/openapi.json">OpenAPI 3.1</a>
          </dd>
          {session?.has_store === true ? null : (
            <>
              <dt>Backup</dt>
              <dd>Nothing to back up: this gateway has no store</dd>
            </>
          )}
        </dl>
      </Card>
      {mayRead && session?.has_store === true ? <StoreHealth /> : null}
      {data === undefined ? mayRead && error === null ? <Loading /> : null : <Parts configuration={data} />}
      <AsCommand
        commands={['twinyard doctor']}
        calls={mayRead ? ['config', ...(session?.has_store === true ? ['store'] : [])] : []}
      />
    </>
  );
}

interface Health {
  readonly kind: string;
  readonly address: string;
  readonly version: number | null;
  readonly latency_ms: number | null;
  readonly bytes: number | null;
  readonly problem: string | null;
}

/** Whether the store responds, how fast, and how large it has become. */
function StoreHealth() {
  const { data, error, refetch } = useGet<Health>('store', { everyMs: 5000 });
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  return (
    <Card title="Health of the store">
      <dl className="facts">
        <dt>{data.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'}</dt>
        <dd>
          <code>{data.address}</code>
        </dd>
        <dt>State</dt>
        <dd>{data.problem === null ? `responds, a query took ${data.latency_ms!.toFixed(1)} ms` : data.problem}</dd>
        <dt>Size</dt>
        <dd>{data.bytes === null ? 'not known' : `${(data.bytes / 2 ** 20).toFixed(1)} MiB`}</dd>
        <dt>Version of its tables</dt>
        <dd>{data.version ?? 'not known'}</dd>
        <dt>Backup</dt>
        <dd>
          <Command
            text={`twinyard backup --store ${data.kind === 'sqlite' ? quoted(data.address) : 'STORE'} --to twinyard.backup`}
          />
        </dd>
      </dl>
    </Card>
  );
}

function Parts({ configuration }: { readonly configuration: Configuration }) {
  return PARTS.map(({ keys, title }) => (
    <Card key={title} title={title}>
      <dl className="facts">
        {keys
          .filter((key) => configuration[key] !== undefined)
          .map((key) => (
            <Setting key={key} name={key} value={configuration[key]} />
          ))}
      </dl>
    </Card>
  ));
}

/** A key as the configuration file has it. */
const fileKey = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function Setting({ name, value }: { readonly name: string; readonly value: unknown }) {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  const words = isMap
    ? Object.entries(value).map(([key, one]) => `${fileKey(key)} ${JSON.stringify(one)}`)
    : [value === null ? 'off' : JSON.stringify(value)];
  return (
    <>
      <dt>{fileKey(name)}</dt>
      <dd>
        <code>{words.join(' · ')}</code>
      </dd>
    </>
  );
}

interface Reloaded {
  readonly needs_restart: readonly string[];
}

/** Reads the configuration file again. */
function Reload({ change }: { readonly change: ReturnType<typeof useChange<Reloaded>> }) {
  const rest = change.data?.needs_restart ?? [];
  return (
    <>
      <span role="status" className="muted">
        {change.data === undefined
          ? ''
          : rest.length === 0
            ? 'Reloaded'
            : `Reloaded; needs a restart: ${rest.join(', ')}`}
      </span>
      <Button disabled={change.isPending} onClick={() => change.mutate({ method: 'POST', path: 'config/reload' })}>
        Reload the file
      </Button>
    </>
  );
}

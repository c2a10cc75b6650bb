import { Link } from '@tanstack/react-router';
import type { EndpointTraffic } from '../../api/types';
import { Badge, Bar, Card, NumberHead, TablePlace, type Tone } from '../../parts/basics';
import { milliseconds, percent, short, whole } from '../../parts/format';
import { Empty } from '../../parts/states';

function health({ ready, replicas }: EndpointTraffic): { tone: Tone; word: string } {
  if (replicas === 0) return { tone: 'idle', word: 'No replicas' };
  if (ready === 0) return { tone: 'bad', word: 'Down' };
  return ready < replicas ? { tone: 'warn', word: 'Degraded' } : { tone: 'good', word: 'Healthy' };
}

export function EndpointTable({ items }: { readonly items: readonly EndpointTraffic[] }) {
  return (
    <Card title="Endpoints">
      {items.length === 0 ? (
        <Empty title="No endpoint is served yet" command="twinyard apply -f examples/endpoints/emulated.yaml">
          An endpoint is a set of replicas with one routing policy.
        </Empty>
      ) : (
        <TablePlace name="Endpoints">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Endpoint</th>
                <th scope="col">State</th>
                <NumberHead>Ready</NumberHead>
                <NumberHead>Requests/s</NumberHead>
                <NumberHead>Tokens/s</NumberHead>
                <NumberHead>First token p50</NumberHead>
                <NumberHead>p95</NumberHead>
                <NumberHead>In flight</NumberHead>
                <NumberHead>Queued</NumberHead>
                <NumberHead>KV used</NumberHead>
                <NumberHead>Errors/s</NumberHead>
              </tr>
            </thead>
            <tbody>
              {items.map((one) => (
                <Row key={`${one.workspace}/${one.name}`} one={one} />
              ))}
            </tbody>
          </table>
        </TablePlace>
      )}
    </Card>
  );
}

function Row({ one }: { readonly one: EndpointTraffic }) {
  const { tone, word } = health(one);
  return (
    <tr>
      <td>
        <Link to="/endpoints/$workspace/$name" params={{ workspace: one.workspace, name: one.name }}>
          <span className="muted">{one.workspace}/</span>
          {one.name}
        </Link>
      </td>
      <td>
        <Badge tone={tone}>{word}</Badge>
      </td>
      <td className="number">
        {one.ready} / {one.replicas}
      </td>
      <td className="number">{short(one.requests_per_s)}</td>
      <td className="number">{short(one.output_tokens_per_s)}</td>
      <td className="number">{milliseconds(one.ttft_p50_ms)}</td>
      <td className="number">{milliseconds(one.ttft_p95_ms)}</td>
      <td className="number">{whole(one.in_flight)}</td>
      <td className="number">{whole(one.queued)}</td>
      <td className="number">
        <span className="measure">
          <Bar share={one.kv_used ?? 0} tone={(one.kv_used ?? 0) > 0.9 ? 'bad' : 'info'} />
          {percent(one.kv_used)}
        </span>
      </td>
      <td className="number">{short(one.errors_per_s)}</td>
    </tr>
  );
}

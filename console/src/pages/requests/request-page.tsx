import { getRouteApi, Link } from '@tanstack/react-router';
import { pathOf } from '../../api/client';
import { useGet } from '../../api/queries';
import type { PastRequest } from '../../api/types';
import { Card, PageHead } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { quoted } from '../../parts/commands';
import { milliseconds, percent, whole } from '../../parts/format';
import { Outcome } from '../../parts/outcome';
import { Failure, Loading } from '../../parts/states';
import { Time } from '../../parts/time';
import { useKeyName } from './key-names';
import { ShadowChoices } from './shadow-choices';
import { Waterfall } from './waterfall';
import { type Explanation, Why } from './why';

const route = getRouteApi('/requests/$id');

/** One request: its life, and why it went to its replica. */
export function RequestPage() {
  const { id } = route.useParams();
  const request = useGet<PastRequest>(`requests/${pathOf(id)}`);
  const explanation = useGet<Explanation>(`decisions/${pathOf(id)}`);
  return (
    <>
      <PageHead
        title={
          <>
            <Link to="/requests" search={{}} className="muted">
              Requests
            </Link>
            <span className="muted"> / </span>
            <span className="mono title-id">{id}</span>
          </>
        }
      />
      {request.data === undefined ? (
        request.error === null ? (
          <Loading />
        ) : (
          <Failure error={request.error} onRetry={() => void request.refetch()} />
        )
      ) : (
        <>
          <Card title="Life">
            <Waterfall request={request.data} />
          </Card>
          <Facts request={request.data} />
        </>
      )}
      <Card title={isRefused(explanation.data) ? 'Why it was refused' : 'Why this replica'}>
        {explanation.data === undefined ? (
          explanation.error === null ? (
            <Loading />
          ) : (
            <div className="padded">
              <Failure error={explanation.error} />
            </div>
          )
        ) : (
          <Why explanation={explanation.data} />
        )}
      </Card>
      {explanation.data?.shadows === undefined ? null : (
        <Card title="What the shadows would have done">
          <ShadowChoices choices={explanation.data.shadows} serving={explanation.data.policy ?? 'the policy'} />
        </Card>
      )}
      <AsCommand commands={[`twinyard explain ${quoted(id)}`]} />
    </>
  );
}

/** A key that is not there any more has its id only. */
function KeyLink({ uid }: { readonly uid: string | null }) {
  const known = useKeyName(uid ?? undefined);
  if (known === undefined) return uid ?? 'none';
  const { name, workspace } = known;
  return <Link to="/keys/$name" params={{ name }} search={{ workspace }}>{`${workspace}/${name}`}</Link>;
}

/** Whether it was refused before a replica was chosen. */
const isRefused = (explanation: Explanation | undefined) =>
  explanation?.refused !== undefined && explanation.replicas === undefined;

function Facts({ request }: { readonly request: PastRequest }) {
  const share = request.input_tokens === 0 ? 0 : request.cached_tokens / request.input_tokens;
  const decode = request.ttft_ms === null ? null : request.duration_ms - request.ttft_ms;
  const rate = decode === null || decode === 0 ? null : (1000 * (request.output_tokens - 1)) / decode;
  const facts: [string, React.ReactNode][] = [
    ['Outcome', <Outcome key="o" outcome={request.outcome} status={request.status} />],
    ...(request.cause === null ? [] : [['Cause', request.cause] as [string, string]]),
    ['Arrived', <Time key="t" at={request.at} hasMs />],
    [
      'Endpoint',
      <Link
        key="e"
        to="/endpoints/$workspace/$name"
        params={{ workspace: request.workspace, name: request.endpoint }}
      >{`${request.workspace}/${request.endpoint}`}</Link>,
    ],
    ['Model', request.model],
    ['Class', request.class],
    ['Key', <KeyLink key="k" uid={request.key} />],
    ['Replica', request.replica ?? 'none'],
    ['Attempts', whole(request.attempts)],
    ['Prompt', `${whole(request.input_tokens)} tokens, ${percent(share)} cached`],
    ['Output', `${whole(request.output_tokens)} tokens${rate === null || rate <= 0 ? '' : `, ${rate.toFixed(1)}/s`}`],
    ['First token', milliseconds(request.ttft_ms)],
    ['Duration', milliseconds(request.duration_ms)],
  ];
  return (
    <Card title="Facts">
      <dl className="facts facts-wide">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

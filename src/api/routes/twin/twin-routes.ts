import { type EndpointSwitch, endpoint as endpointKind } from '../../../control/resources/kinds/endpoint.js';
import { readPolicyBody } from '../../../gateway/config/read-admin-body.js';
import type { Endpoint } from '../../../gateway/fleet/endpoint/endpoint.js';
import { endpointName } from '../../../gateway/fleet/endpoint-name.js';
import { parseDuration } from '../../../kernel/text/duration.js';
import type { AdviceDocument } from '../../../twin/advise/advice-document.js';
import type { ApiHost } from '../../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute } from '../../api-route.js';
import { checkPolicyHash, POLICY_HASH } from '../../changes/expected-policy.js';
import { badBody, notRecording, switchUnderWay } from '../../errors.js';
import { auditChange } from '../../gateway/audit-change.js';
import { liveEndpoint } from '../../gateway/live-endpoints.js';
import { FileSwitch } from '../../jobs/file-switch.js';
import { guardedSwitch } from '../../jobs/guarded-switch.js';
import type { Job, JobWork } from '../../jobs/job-board.js';
import { JOB, jobView } from '../../views/job-views.js';
import {
  ADVICE_BODY,
  type AdviceBody,
  DEFAULT_WATCH,
  PLAN_BODY,
  type PlanBody,
  SWITCH_BODY,
  type SwitchBody,
  WHATIF_BODY,
  type WhatIfBody,
} from '../../views/twin-bodies.js';
import { StoredSwitch } from './stored-switch.js';

const ONE = `/api/v1/workspaces/{workspace}/${endpointKind.plural}/{name}`;
/** As the recording: who asked for what, when and how much. */
const asks = { method: 'POST', role: 'operator', scope: 'workspace', status: 202 } as const;

/** Questions about what an endpoint served, and changes that follow from them. Each is a job. */
export const TWIN_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    ...asks,
    path: `${ONE}/whatif`,
    summary: 'Predict what other policies or another fleet would have made of the recorded traffic: creates a job',
    body: { type: 'json', schema: WHATIF_BODY, example: { policies: [{ policy: 'lmetric' }], last: '1h' } },
    response: { type: 'object', schema: JOB },
    async handle(host, request) {
      const [{ question }, { whatIfCommands }] = await Promise.all([
        import('./twin-questions.js'),
        import('./as-commands.js'),
      ]);
      const { body, endpoint, recording } = recordedEndpoint(host, request, request.body as WhatIfBody);
      const asked = question(endpoint, host.gateway, body);
      const commands = whatIfCommands(host.gateway, endpoint, body);
      const work = twinWork({ recording, question: asked });
      return created(host, { ...request, body }, endpoint, { kind: 'whatif', commands }, work);
    },
  }),
  defineRoute({
    ...asks,
    path: `${ONE}/advice`,
    summary: 'Find the best policy for the recorded traffic, its gain and what a switch costs: creates a job',
    body: { type: 'json', schema: ADVICE_BODY, example: { last: '24h' }, optional: true },
    response: { type: 'object', schema: JOB },
    async handle(host, request) {
      const [{ adviceQuestion }, { adviceCommands }] = await Promise.all([
        import('./twin-questions.js'),
        import('./as-commands.js'),
      ]);
      const { body, endpoint, recording } = recordedEndpoint(host, request, request.body as AdviceBody);
      const asked = adviceQuestion(endpoint, host.gateway, body);
      const commands = adviceCommands(host.gateway, endpoint, body);
      return advised(host, { ...request, body }, endpoint, commands, twinWork({ recording, ...asked }));
    },
  }),
  defineRoute({
    ...asks,
    path: `${ONE}/plan`,
    summary: 'Find the least fleet that keeps SLOs under the recorded traffic or a preset: creates a job',
    body: {
      type: 'json',
      schema: PLAN_BODY,
      example: { slos: [{ metric: 'ttft', statistic: 'p99', limit_ms: 500 }], last: '1h' },
    },
    response: { type: 'object', schema: JOB },
    async handle(host, request) {
      const [{ planQuestion }, { planCommands }] = await Promise.all([
        import('./twin-questions.js'),
        import('./as-commands.js'),
      ]);
      const given = request.body as PlanBody;
      // A preset needs no recording.
      const { body, endpoint, recording } =
        given.workload === undefined
          ? recordedEndpoint(host, request, given)
          : { body: given, endpoint: liveEndpoint(host.gateway, calledIn(request.params)), recording: null };
      const asked = planQuestion(endpoint, host.gateway, body);
      const commands = planCommands(host.gateway, endpoint, body);
      const work = twinWork({ recording, ...asked });
      return created(host, { ...request, body }, endpoint, { kind: 'plan', commands }, work);
    },
  }),
  defineRoute({
    ...asks,
    path: `${ONE}/policy/switch`,
    summary: 'Switch the policy, watch a metric, and go back if it gets worse than allowed: creates a job',
    body: {
      type: 'json',
      schema: SWITCH_BODY,
      example: { policy: { routing: { policy: 'lmetric' } }, guard: { metric: 'ttft_p90', most: 0.1 }, watch: '10m' },
      asGiven: true,
    },
    ifMatch: `${POLICY_HASH}, or the resource_version of an Endpoint,`,
    response: { type: 'object', schema: JOB },
    handle: switchPolicy,
  }),
];

type Request = Pick<ApiRequest, 'body' | 'caller' | 'params'>;

const calledIn = ({ name, workspace }: ApiRequest['params']) => ({ workspace: workspace!, name: name! });

/** The part of the recording that a question is about. The body names its end, so that the question can be asked again. */
function recordedEndpoint<Body extends { last: string; to?: string | undefined }>(
  { gateway }: ApiHost,
  { params }: Request,
  given: Body,
) {
  const endpoint = liveEndpoint(gateway, calledIn(params));
  const { record } = gateway.config;
  if (record === null || record.path === '-') throw notRecording();
  const nowMs = gateway.epochUs / 1000 + gateway.nowMs();
  const body = { ...given, to: given.to ?? new Date(Math.ceil(nowMs)).toISOString() };
  const untilUs = Date.parse(body.to) * 1000;
  const sinceUs = untilUs - durationUs('last', body.last);
  const leastUs = gateway.former.untilUs(params.workspace!);
  return { body, endpoint, recording: { path: record.path, endpoint: endpoint.name, sinceUs, leastUs, untilUs } };
}

function durationUs(key: string, given: string): number {
  const us = parseDuration(given);
  if (us === null || us <= 0) throw badBody(key, `'${given}' is not a duration`, "give one such as '30m' or '1h'");
  return us;
}

type Task = Parameters<typeof import('../../../twin/jobs/run-twin-task.js').runTwinTask>[0];

/** A question that computes for longer holds up those of others. */
const LONGEST_MS = 30 * 60_000;

/** Loaded with the first job: a gateway without any needs nothing of it. */
function twinWork(task: Task): JobWork {
  return async ({ progress, signal }) => {
    const { runTwinTask } = await import('../../../twin/jobs/run-twin-task.js');
    return runTwinTask(task, { signal, onProgress: progress, mostMs: LONGEST_MS });
  };
}

function created(
  { jobs }: ApiHost,
  { body, caller }: Request,
  endpoint: Endpoint,
  { commands = [], kind }: { kind: string; commands?: readonly string[] },
  work: JobWork,
  isIdle = false,
) {
  const { name, workspace } = endpointName(endpoint);
  const facts = { kind, workspace, endpoint: name, actor: caller.name, asked: body as object, commands };
  const job = jobs.create(facts, work, isIdle);
  return { status: 202, body: jobView(job, Date.now()) };
}

/** The advice is in the status of the endpoint when its job is done. */
function advised(host: ApiHost, request: Request, endpoint: Endpoint, commands: readonly string[], work: JobWork) {
  const response = created(host, request, endpoint, { kind: 'advice', commands }, async (watch) => {
    const document = await work(watch);
    host.advice.add(endpointName(endpoint), response.body.id, document as AdviceDocument, Date.now());
    return document;
  });
  return response;
}

async function switchPolicy(host: ApiHost, request: ApiRequest<object, SwitchBody>) {
  const { body, caller, params } = request;
  const called = calledIn(params);
  const endpoint = liveEndpoint(host.gateway, called);
  if (endpoint.managed === null) checkPolicyHash(endpoint, request);
  const policy = readPolicyBody(body.policy, endpoint.policy);
  const { metric, most } = body.guard;
  const guard = { metric, most, watchMs: durationUs('watch', body.watch ?? DEFAULT_WATCH) / 1000 };
  const { gateway } = host;
  const audit = (before: object, after: object) =>
    auditChange(host, caller.name, {
      ...{ kind: 'Policy', workspace: called.workspace, name: endpoint.name, action: 'update', before, after },
    });
  const target =
    endpoint.managed === null
      ? new FileSwitch({ gateway, endpoint, policy, audit })
      : await StoredSwitch.open(host, request, body.policy as Record<string, unknown>);
  if (host.jobs.list().some((job) => isSwitchOf(job, called))) throw switchUnderWay(called.workspace, called.name);
  const { switches } = host;
  const work: JobWork = async (watch) => {
    const made = { policy: policy.name, former: endpoint.policy.name, metric, most };
    // The id of the job is known before it starts to work.
    await null;
    const { id } = response.body;
    switches.begin(called, { job: id, ...made }, Date.now());
    const ended = (state: EndpointSwitch['state'], reason: string) =>
      switches.end(called, id, state, reason, Date.now());
    try {
      const result = await guardedSwitch({ gateway, target }, guard, watch);
      ended(result.outcome, result.reason);
      return result;
    } catch (error) {
      if (watch.signal.aborted) ended('cancelled', 'it was cancelled, or the gateway stopped');
      else ended('failed', (error as Error).message);
      throw error;
    }
  };
  const response = created(host, request, endpoint, { kind: 'switch' }, work, true);
  return response;
}

function isSwitchOf({ endpoint, kind, state, workspace }: Job, called: { workspace: string; name: string }): boolean {
  const isOpen = state === 'waiting' || state === 'running';
  return kind === 'switch' && isOpen && workspace === called.workspace && endpoint === called.name;
}

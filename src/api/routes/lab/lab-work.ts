import { shellWord } from '../../../kernel/text/shell-word.js';
import { scorersOption } from '../../../policy/bundle/scorers-option.js';
import { routingPolicy } from '../../../policy/registry.js';
import { MOST_RECORDED } from '../../../twin/jobs/copy-recorded.js';
import { labArguments } from '../../../twin/lab/lab-arguments.js';
import { labChoices } from '../../../twin/lab/lab-choices.js';
import type { LabInput, LabQuestion } from '../../../twin/lab/lab-question.js';
import type { ApiHost } from '../../api-host.js';
import { badBody, notRecording, unknownUpload } from '../../errors.js';
import { liveEndpoint } from '../../gateway/live-endpoints.js';
import type { JobWork } from '../../jobs/job-board.js';

const HOUR_MS = 3_600_000;
/** The name of a file in any folder, and of no flag. */
const PLAIN = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

export interface LabWork {
  /** With what it left open: the same question gives the same result. */
  readonly question: LabQuestion;
  /** That print the same document, one after the other, in a folder with the upload. */
  readonly commands: readonly string[];
  readonly work: JobWork;
}

/** The work of an experiment. Throws where it is clear that it would fail, before the job waits for its turn. */
export function labWork(host: ApiHost, workspace: string, given: LabQuestion): LabWork {
  checkTraffic(given);
  checkPolicies(given);
  checkFleet(given);
  const { recording, upload } = given.traffic;
  if (recording !== undefined) return ofRecording(host, workspace, given, recording);
  if (upload !== undefined) return ofUpload(host, workspace, given, upload);
  return workOf(host, given, null);
}

function ofUpload(
  host: ApiHost,
  workspace: string,
  given: LabQuestion,
  { format, id }: NonNullable<LabQuestion['traffic']['upload']>,
): LabWork {
  const { uploads } = host.lab;
  const name = uploads.get(workspace, id)?.name;
  if (name === undefined) throw unknownUpload(id);
  const work: JobWork = async (watch) => {
    const held = uploads.hold(workspace, id);
    if (held === undefined) throw unknownUpload(id);
    try {
      return await workOf(host, given, { name, format, path: held.path }).work(watch);
    } finally {
      held.release();
    }
  };
  return { ...workOf(host, given, { name, format, path: '' }), work };
}

function ofRecording(
  host: ApiHost,
  workspace: string,
  given: LabQuestion,
  { endpoint: called, from, to }: NonNullable<LabQuestion['traffic']['recording']>,
): LabWork {
  const { gateway } = host;
  const endpoint = liveEndpoint(gateway, { workspace, name: called });
  const { record } = gateway.config;
  if (record === null || record.path === '-') throw notRecording();
  const untilMs = to === undefined ? Math.ceil(gateway.epochUs / 1000 + gateway.nowMs()) : Date.parse(to);
  const sinceMs = from === undefined ? untilMs - HOUR_MS : Date.parse(from);
  if (sinceMs >= untilMs) throw badBody('traffic.recording.from', "is not before 'to'", 'give an earlier time');
  const times = { from: new Date(sinceMs).toISOString(), to: new Date(untilMs).toISOString() };
  const question = { ...given, traffic: { ...given.traffic, recording: { endpoint: called, ...times } } };
  const part = { path: record.path, endpoint: endpoint.name, sinceUs: sinceMs * 1000, untilUs: untilMs * 1000 };
  const name = PLAIN.test(called) ? `${called}.jsonl` : 'recording.jsonl';
  const ofServer = workOf(host, question, { name, format: 'trace', recording: part });
  const path = ['workspaces', workspace, 'endpoints', called, 'recording'].map(encodeURIComponent).join('/');
  const url = `${gateway.adminUrl}/api/v1/${path}?${new URLSearchParams(times)}`;
  return { ...ofServer, commands: [fetchLine(url, name), ...ofServer.commands] };
}

/** Writes what a gateway recorded to a file: the data of the events that hold a request. */
function fetchLine(url: string, name: string): string {
  const fetched = `curl -sSfH "authorization: Bearer $TWINYARD_TOKEN" ${shellWord(url)}`;
  return `${fetched} | sed -n 's/^data: {"t_us"/{"t_us"/p' | tail -n ${MOST_RECORDED} > ${name}`;
}

function workOf({ lab }: ApiHost, question: LabQuestion, input: LabInput | null): LabWork {
  const argv = labArguments(question, input);
  return {
    question,
    commands: [['twinyard', 'compare', ...argv.map(shellWord)].join(' ')],
    work: ({ progress, signal }) => lab.run({ argv, input }, { signal, onProgress: progress }),
  };
}

function checkTraffic({ traffic }: LabQuestion): void {
  const { rate, recording, requests, upload, workload } = traffic;
  const sources = [workload, upload, recording].filter((source) => source !== undefined);
  const hint = "give one of 'workload', 'upload' and 'recording'";
  if (sources.length !== 1) throw badBody('traffic', sources.length === 0 ? 'has no source' : 'has two sources', hint);
  if (recording === undefined && upload?.format !== 'trace') return;
  const own = rate !== undefined ? 'rate' : requests !== undefined ? 'requests' : null;
  if (own !== null) throw badBody(`traffic.${own}`, 'a trace has its own requests', 'leave it out');
}

function checkPolicies({ policies }: LabQuestion): void {
  if (new Set(policies).size < policies.length) throw badBody('policies', 'has one twice', 'name each once');
  for (const [i, given] of policies.entries()) {
    const place = `body (policies[${i}])`;
    const [name, ...scorers] = given.split(':');
    const policy = routingPolicy(name!, place);
    const hint = "only 'weighted' takes scorers";
    if (scorers.length > 0) scorersOption(policy, scorers.join(':').replaceAll('+', ','), place, hint, () => {});
  }
}

/** Names that are not in the catalogue are refused at once, before the job waits for its turn. */
function checkFleet({ fleet: { hardware, model } }: LabQuestion): void {
  const { hardware: gpus, models } = labChoices();
  const folderOf = (name: string) => name.slice(name.indexOf('/') + 1).toLowerCase();
  if (!models.some(({ name }) => folderOf(name) === folderOf(model))) {
    throw badBody('fleet.model', `'${model}' is not in the catalogue`, 'see GET /api/v1/lab/choices');
  }
  if (hardware !== undefined && !gpus.some((name) => name.toLowerCase() === hardware.toLowerCase())) {
    throw badBody('fleet.hardware', `'${hardware}' is not in the catalogue`, `give one of ${gpus.join(', ')}`);
  }
}

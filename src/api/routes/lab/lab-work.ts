import { profileDocument } from '../../../gateway/prediction/profile-document.js';
import { shellWord } from '../../../kernel/text/shell-word.js';
import { FLOW_CONTROL_SCHEMA, type FlowControlKeys } from '../../../policy/bundle/flow-control-schema.js';
import { defaultOf, type Schema } from '../../../schema/facts.js';
import { MOST_RECORDED } from '../../../twin/jobs/copy-recorded.js';
import { labArguments } from '../../../twin/lab/lab-arguments.js';
import { LAB_REPLICAS, type LabInput, type LabProfile, type LabQuestion } from '../../../twin/lab/lab-question.js';
import type { ApiHost } from '../../api-host.js';
import { badBody, noProfiles, notRecording, unknownEngine, unknownUpload } from '../../errors.js';
import { liveEndpoint } from '../../gateway/live-endpoints.js';
import type { JobWork } from '../../jobs/job-board.js';
import { checkQuestion } from './check-question.js';

const HOUR_MS = 3_600_000;
const LAB_PROFILE = 'latency-profile.json';
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
  checkQuestion(given);
  const { kinds, replicas = LAB_REPLICAS } = given.fleet;
  const question = {
    ...given,
    ...(kinds === undefined ? { fleet: { ...given.fleet, replicas } } : {}),
    ...(given.flow_control === undefined ? {} : { flow_control: givenSettings(given.flow_control) }),
  };
  const { recording, upload } = given.traffic;
  const fitted = given.fleet.profile === undefined ? null : fittedProfile(host, workspace, given.fleet.profile);
  const make: Make = (asked, input) => workOf(host, asked, input, fitted?.profile ?? null);
  const made =
    recording !== undefined
      ? ofRecording(host, workspace, question, recording, make)
      : upload !== undefined
        ? ofUpload(host, workspace, question, upload, make)
        : make(question, null);
  return fitted === null ? made : { ...made, commands: [fitted.command, ...made.commands] };
}

/** Without those that have their default: addresses stay short. */
function givenSettings(keys: FlowControlKeys): FlowControlKeys {
  const entries = FLOW_CONTROL_SCHEMA.entries as unknown as Readonly<Record<string, Schema>>;
  return Object.fromEntries(Object.entries(keys).filter(([key, value]) => value !== defaultOf(entries[key]!)));
}

type Make = (question: LabQuestion, input: LabInput | null) => LabWork;

/** The profile as it is now, and the command that writes it. Throws where the endpoint has none. */
function fittedProfile(
  { gateway }: ApiHost,
  workspace: string,
  { endpoint: called, engine }: NonNullable<LabQuestion['fleet']['profile']>,
): { profile: LabProfile; command: string } {
  const endpoint = liveEndpoint(gateway, { workspace, name: called });
  const { profiles } = gateway.traffic;
  if (profiles === null) throw noProfiles();
  const states = profiles.states(endpoint.name);
  const found = engine === undefined ? states[0] : states.find((state) => state.engine === engine);
  if (found === undefined) {
    const known = states.map((state) => state.engine);
    throw unknownEngine(workspace, called, engine ?? '', known);
  }
  if (found.profile === null)
    throw badBody('fleet.profile', `engine ${found.engine} has no profile yet: ${found.problem}`, 'try again later');
  const words = ['twinyard', 'profiles', 'export', called, found.engine, '--workspace', workspace];
  words.push('--server', gateway.adminUrl, '--output', LAB_PROFILE);
  return {
    profile: { name: LAB_PROFILE, document: profileDocument(found.profile) },
    command: words.map(shellWord).join(' '),
  };
}

function ofUpload(
  host: ApiHost,
  workspace: string,
  given: LabQuestion,
  { format, id }: NonNullable<LabQuestion['traffic']['upload']>,
  make: Make,
): LabWork {
  const { uploads } = host.lab;
  const name = uploads.get(workspace, id)?.name;
  if (name === undefined) throw unknownUpload(id);
  if (name === LAB_PROFILE && given.fleet.profile !== undefined)
    throw badBody('traffic.upload', `has the name of the profile, ${LAB_PROFILE}`, 'upload it under another name');
  const work: JobWork = async (watch) => {
    const held = uploads.hold(workspace, id);
    if (held === undefined) throw unknownUpload(id);
    try {
      return await make(given, { name, format, path: held.path }).work(watch);
    } finally {
      held.release();
    }
  };
  return { ...make(given, { name, format, path: '' }), work };
}

function ofRecording(
  { gateway }: ApiHost,
  workspace: string,
  given: LabQuestion,
  { endpoint: called, from, to }: NonNullable<LabQuestion['traffic']['recording']>,
  make: Make,
): LabWork {
  const endpoint = liveEndpoint(gateway, { workspace, name: called });
  const { record } = gateway.config;
  if (record === null || record.path === '-') throw notRecording();
  const untilMs = to === undefined ? Math.ceil(gateway.epochUs / 1000 + gateway.nowMs()) : Date.parse(to);
  const sinceMs = from === undefined ? untilMs - HOUR_MS : Date.parse(from);
  if (sinceMs >= untilMs) throw badBody('traffic.recording.from', "is not before 'to'", 'give an earlier time');
  const times = { from: new Date(sinceMs).toISOString(), to: new Date(untilMs).toISOString() };
  const question = { ...given, traffic: { ...given.traffic, recording: { endpoint: called, ...times } } };
  const leastUs = gateway.former.untilUs(workspace);
  const part = {
    path: record.path,
    endpoint: endpoint.name,
    sinceUs: sinceMs * 1000,
    leastUs,
    untilUs: untilMs * 1000,
  };
  const name = PLAIN.test(called) ? `${called}.jsonl` : 'recording.jsonl';
  const ofServer = make(question, { name, format: 'trace', recording: part });
  const path = ['workspaces', workspace, 'endpoints', called, 'recording'].map(encodeURIComponent).join('/');
  const url = `${gateway.adminUrl}/api/v1/${path}?${new URLSearchParams(times)}`;
  return { ...ofServer, commands: [fetchLine(url, name), ...ofServer.commands] };
}

/** Writes what a gateway recorded to a file: the data of the events that hold a request. */
function fetchLine(url: string, name: string): string {
  const fetched = `curl -sSfH "authorization: Bearer $TWINYARD_TOKEN" ${shellWord(url)}`;
  return `${fetched} | sed -n 's/^data: {"t_us"/{"t_us"/p' | tail -n ${MOST_RECORDED} > ${name}`;
}

function workOf({ lab }: ApiHost, question: LabQuestion, input: LabInput | null, profile: LabProfile | null): LabWork {
  const argv = labArguments(question, input, profile?.name);
  return {
    question,
    commands: [['twinyard', 'compare', ...argv.map(shellWord)].join(' ')],
    work: ({ progress, signal }) => lab.run({ argv, input, profile }, { signal, onProgress: progress }),
  };
}

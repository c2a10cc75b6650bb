import { findJsonError } from '../../replica/catalogue/find-json-error.js';
import { readInputFile } from '../../workload/input-file.js';
import { resultsInvalid } from './errors.js';
import type { PredictedRequest } from './measured-request.js';

type JsonObject = Readonly<Record<string, unknown>>;

const FIELDS = ['request_id', 'ttft_us', 'e2e_us', 'input_tokens', 'output_tokens'] as const;
const RESULTS = "give the file of 'replay --results-path' or of '--metrics-path'";

/** Reads the requests of `--results-path`, or those of `--metrics-path`. */
export async function readPredicted(path: string): Promise<PredictedRequest[]> {
  const json = await readJson(path);
  const [list, prefix] = Array.isArray(json) ? [json, ''] : [isObject(json) ? json.requests : undefined, 'requests'];
  if (!Array.isArray(list)) throw resultsInvalid(path, 'holds no list of requests', RESULTS);
  if (list.length === 0) throw resultsInvalid(path, 'the list of requests is empty', RESULTS);
  const seen = new Map<number, number>();
  return list.map((entry: unknown, i) => {
    const at = (field: string) => `${path} (${prefix}[${i}].${field})`;
    if (!isObject(entry)) throw resultsInvalid(`${path} (${prefix}[${i}])`, 'is not an object', RESULTS);
    checkFields(entry, at);
    const request = readEntry(entry, at);
    const before = seen.get(request.id);
    if (before !== undefined) {
      const problem = `request_${request.id} appears twice, first as ${prefix}[${before}]`;
      throw resultsInvalid(at('request_id'), problem, 'give the results of one run');
    }
    if (request.id >= 0) seen.set(request.id, i);
    return request;
  });
}

/** The share of prompts found in caches, from a document of `--metrics-path`. */
export async function readPredictedHitRate(path: string): Promise<number> {
  const json = await readJson(path);
  const cluster = isObject(json) && isObject(json.cluster) ? json.cluster : json;
  // What a server's counters mean is the share of prompt tokens; others know only the share of blocks.
  const rate = isObject(cluster) ? (cluster.prompt_cache_hit_rate ?? cluster.cache_hit_rate) : undefined;
  if (typeof rate === 'number' && rate >= 0 && rate <= 1) return rate;
  const problem = rate === undefined ? 'holds no cache_hit_rate' : `the hit rate ${shown(rate)} is not from 0 to 1`;
  throw resultsInvalid(path, problem, "give the file of 'replay --metrics-path'");
}

function checkFields(entry: JsonObject, at: (field: string) => string): void {
  const missing = FIELDS.find((field) => !Object.hasOwn(entry, field));
  if (missing === undefined) return;
  const stem = /^(ttft|e2e)_us$/.exec(missing)?.[1];
  const other = Object.keys(entry).find((key) => stem !== undefined && new RegExp(`^${stem}_(ms|s|ns|sec)$`).test(key));
  if (other !== undefined) {
    throw resultsInvalid(at(other), `times are in ${other.split('_')[1]}, not in microseconds`, RESULTS);
  }
  throw resultsInvalid(at(missing), 'is missing', `${RESULTS}: requests have ${FIELDS.join(', ')}`);
}

function readEntry(entry: JsonObject, at: (field: string) => string): PredictedRequest {
  const number = (field: string, orNothing: boolean): number => {
    const value = entry[field];
    if (value === null && orNothing) return Number.NaN;
    if (typeof value === 'number' && value >= 0) return value;
    const accepted = orNothing ? 'a number from 0, or null for what never happened' : 'a number from 0';
    throw resultsInvalid(at(field), `${shown(value)} is not accepted`, `give ${accepted}`);
  };
  return {
    id: idOf(entry.request_id, at),
    ttftUs: number('ttft_us', true),
    e2eUs: number('e2e_us', true),
    inputTokens: number('input_tokens', false),
    outputTokens: number('output_tokens', false),
    status: typeof entry.status === 'string' ? entry.status : null,
    isCapped: typeof entry.client_wait_us === 'number',
  };
}

/** `request_7` or 7; turns of sessions that the simulation created are in no trace. */
function idOf(given: unknown, at: (field: string) => string): number {
  if (typeof given === 'number' && Number.isSafeInteger(given) && given >= 0) return given;
  if (typeof given === 'string') {
    const digits = /^request_(\d+)$/.exec(given)?.[1];
    if (digits !== undefined) return Number(digits);
    if (/^session_.*_round_\d+_\d+$/s.test(given)) return -1;
  }
  throw resultsInvalid(at('request_id'), `${shown(given)} is not a request id`, "ids are 'request_<n>', or <n>");
}

async function readJson(path: string): Promise<unknown> {
  const text = (await readInputFile(path)).toString('utf8').replace(/^\ufeff/, '');
  try {
    return JSON.parse(text);
  } catch (error) {
    const found = findJsonError(text) ?? { offset: 0, problem: (error as Error).message };
    const before = text.slice(0, found.offset).split('\n');
    const place = `${path}:${before.length}:${before.at(-1)!.length + 1}`;
    throw resultsInvalid(place, found.problem, RESULTS);
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 40 ? `${text.slice(0, 40)}...` : text;
}

import type { TraceServer } from '../../workload/trace.js';
import { probeServer } from './client/probe-server.js';
import type { ServerClient } from './client/server-client.js';
import type { ObservedServer, ObserveOptions, ObservePlan } from './observation.js';
import { correctPrompts } from './prompts/correct-prompts.js';
import { measureScale } from './prompts/measure-scale.js';
import { PromptBuilder } from './prompts/prompt-builder.js';
import { WORDS } from './prompts/prompt-words.js';
import type { TokenScale } from './prompts/token-scale.js';
import { serverTokenizer } from './prompts/tokenizer.js';
import { usageCounter } from './prompts/usage-counter.js';
import { RequestWriter } from './send/request-writer.js';

/** A first question may take that long at most: a server that loads its model is not ready to be measured. */
const LONGEST_QUESTION_MS = 60_000;
const RUN_ID_BASE = 36;

/** What is known before the first request of a plan is sent. */
export interface PreparedRun {
  settings: TraceServer;
  scale: TokenScale;
  /** Prompts that the server's tokenizer has counted. */
  checkedPrompts: number;
  prompts: PromptBuilder;
  writer: RequestWriter;
  /** The priority that is sent with a row; null for none. */
  urgency: (row: number) => number | null;
}

/**
 * Finds out how the server is set up and how it counts tokens, and builds the prompts of the plan with the planned
 * lengths.
 */
export async function prepareRun(
  plan: ObservePlan,
  server: ObservedServer,
  options: ObserveOptions,
  client: ServerClient,
  salt: number,
): Promise<PreparedRun> {
  const { apiFormat } = options;
  const { table } = plan.workload;
  const timeoutMs = Math.min(LONGEST_QUESTION_MS, options.timeoutUs / 1000);
  const told = await probeServer(client, server.url, server.model, timeoutMs);
  const settings = { ...told, ...server.settings };
  const tokenize = serverTokenizer(client, apiFormat, server.model, timeoutMs);
  const usage = usageCounter(client, server, apiFormat, timeoutMs);
  const scale = await measureScale(WORDS, { isChat: apiFormat === 'chat', tokenize, usage, salt });
  const prompts = new PromptBuilder(table, scale, salt);
  const checkedPrompts = scale.by === 'tokenize' ? await correctPrompts(table, prompts, tokenize, scale) : 0;
  const urgency = (row: number) =>
    table.sloClass[row] === 0 ? null : plan.urgency(table.sloClasses.name(table.sloClass[row]!));
  const writer = new RequestWriter(table, prompts, {
    format: apiFormat,
    model: server.model,
    isStream: options.streaming,
    isConstrained: options.constrained,
    maxModelLen: settings.maxModelLen ?? null,
    run: salt.toString(RUN_ID_BASE),
    urgency,
  });
  return { settings, scale, checkedPrompts, prompts, writer, urgency };
}

import { type RequestTable, requestId } from '../../../workload/request-table.js';
import type { PromptBuilder } from '../prompts/prompt-builder.js';
import { type ApiFormat, type PromptTurn, promptMember } from '../prompts/prompt-turns.js';

export interface RequestForm {
  format: ApiFormat;
  /** The model name in requests, unless the plan sets one. */
  model: string;
  isStream: boolean;
  /** Responses must be exactly as long as planned. */
  isConstrained: boolean;
  /** Tokens that fit into a request, prompt and response together; null when unknown. */
  maxModelLen: number | null;
  /** In front of every request's id: ids of two runs are different. */
  run: string;
  /** How urgent a row is, lower first; null for one of no class. */
  urgency: (row: number) => number | null;
}

/** Writes the requests of a plan as a server reads them. */
export class RequestWriter {
  readonly #table: RequestTable;
  readonly #prompts: PromptBuilder;
  readonly #form: RequestForm;

  constructor(table: RequestTable, prompts: PromptBuilder, form: RequestForm) {
    this.#table = table;
    this.#prompts = prompts;
    this.#form = form;
  }

  id(row: number): string {
    return `${this.#form.run}-${requestId(this.#table, row)}`;
  }

  body(row: number): Buffer {
    const { isConstrained, maxModelLen, model, urgency } = this.#form;
    const { inputTokens, model: models, outputTokens } = this.#table;
    // Plain completions without a maximum length get very few tokens.
    const room = maxModelLen === null ? outputTokens[row]! : maxModelLen - inputTokens[row]!;
    const wanted = Math.max(1, isConstrained ? outputTokens[row]! : room);
    const priority = urgency(row);
    return this.#write(this.#prompts.turns(row), {
      model: models[row] === 0 ? model : this.#table.models.name(models[row]!),
      ...(isConstrained || this.#form.format === 'completions' ? { max_tokens: wanted } : {}),
      ...(isConstrained ? { min_tokens: wanted, ignore_eos: true } : {}),
      ...(priority === null ? {} : { priority }),
    });
  }

  /** A request of a row's lengths that shares nothing with the plan. */
  unplanned(row: number, n: number): Buffer {
    const wanted = Math.max(1, this.#table.outputTokens[row]!);
    return this.#write(this.#prompts.unplanned(row, n), { model: this.#form.model, max_tokens: wanted });
  }

  headers(row: number): Record<string, string> {
    const { sloClass, sloClasses, sloTargetUs, tenant, tenants } = this.#table;
    const headers: Record<string, string> = { 'x-request-id': headerText(this.id(row)) };
    if (sloClass[row]! > 0) headers['x-gateway-inference-objective'] = headerText(sloClasses.name(sloClass[row]!));
    if (tenant[row]! > 0) headers['x-gateway-inference-fairness-id'] = headerText(tenants.name(tenant[row]!));
    if (sloTargetUs[row]! > 0) headers['x-slo-ttft-ms'] = String(sloTargetUs[row]! / 1000);
    return headers;
  }

  #write(turns: readonly PromptTurn[], fields: object): Buffer {
    const { format, isStream } = this.#form;
    const stream = isStream ? ',"stream":true,"stream_options":{"include_usage":true}' : '';
    return Buffer.from(`${JSON.stringify(fields).slice(0, -1)},${promptMember(format, turns)}${stream}}`);
  }
}

/** Names come from anywhere; a header holds printable ASCII. */
function headerText(name: string): string {
  return name.replace(/[^\x21-\x7e]/g, (character) => encodeURIComponent(character));
}

import { callsMissing } from '../../errors.js';
import { RequestTable } from '../../request-table.js';
import type { TraceFormat } from '../format.js';
import { numberRounds, pausesAfterResponses } from '../records/number-rounds.js';
import { plainTrace } from '../records/plain-trace.js';
import { startAtZero } from '../records/start-at-zero.js';
import { OtelSpan } from './otel-span.js';
import { forEachSpan } from './span-objects.js';

const OPERATION = 'gen_ai.operation.name';
const MODEL = 'gen_ai.request.model';
const CONVERSATION = 'gen_ai.conversation.id';
/** The second name of each is the former one. */
const INPUT = ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'] as const;
const OUTPUT = ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'] as const;
/** Operations that are not one response of a model, or that are the sum of several. */
const NOT_CALLS = new Set([
  'create_agent',
  'embeddings',
  'execute_tool',
  'invoke_agent',
  'invoke_workflow',
  'retrieval',
]);

/** OpenTelemetry spans of calls to models, as the OTLP exporters write them to JSON. */
export const otel: TraceFormat = {
  name: 'otel',
  summary: 'OpenTelemetry: JSON with spans that have gen_ai.usage.input_tokens and gen_ai.usage.output_tokens',
  looksLike: 'JSON with a list resourceSpans or spans',
  detect: ({ text }) => /^\s*[[{]/.test(text) && /"(?:resourceSpans|spans)"\s*:\s*\[/.test(text),
  async read(path) {
    const calls = new SpanCalls(path);
    await forEachSpan(path, (source) => calls.add(new OtelSpan(path, source), source.line, source.column));
    return calls.trace();
  },
};

class SpanCalls {
  readonly #path: string;
  readonly #table = new RequestTable();
  /** By row: when the call ended, and the place of its span. */
  readonly #endUs: number[] = [];
  readonly #lines: number[] = [];
  readonly #columns: number[] = [];
  #spans = 0;
  #uncounted = 0;

  constructor(path: string) {
    this.#path = path;
  }

  add(span: OtelSpan, line: number, column: number): void {
    this.#spans++;
    const input = span.attribute(...INPUT);
    const output = span.attribute(...OUTPUT);
    const isCall = span.attribute(OPERATION) !== undefined || (input ?? output ?? span.attribute(MODEL)) !== undefined;
    if (!isCall || NOT_CALLS.has(span.text(OPERATION))) return;
    const inputTokens = input === undefined ? 0 : span.count(input);
    const outputTokens = output === undefined ? 0 : span.count(output);
    if (input === undefined || output === undefined || inputTokens + outputTokens === 0) {
      this.#uncounted++;
      return;
    }
    const startUs = span.moment('start');
    if (Number.isNaN(startUs)) {
      throw span.invalid('startTimeUnixNano', 'is missing', 'give the nanoseconds since 1970, or start_time as a date');
    }
    const endUs = span.moment('end');
    const table = this.#table;
    const row = table.append();
    table.arrivalUs[row] = startUs;
    table.inputTokens[row] = inputTokens;
    table.outputTokens[row] = outputTokens;
    // A model that no replica serves would only get the request rejected.
    table.client[row] = table.clients.index(span.text(MODEL));
    table.session[row] = table.sessions.index(span.text(CONVERSATION));
    this.#endUs.push(Math.max(startUs, endUs || startUs));
    this.#lines.push(line);
    this.#columns.push(column);
  }

  trace() {
    const table = this.#table;
    if (table.count === 0) throw callsMissing(this.#path, this.#spans);
    const movedUs = startAtZero(table);
    const place = (row: number, field: string) => `${this.#path}:${this.#lines[row]}:${this.#columns[row]} (${field})`;
    const notes = this.#uncounted === 0 ? [] : [`calls without token counts were left out: ${this.#uncounted}`];
    const trace = { ...plainTrace('otel', this.#path, table, place), notes };
    if (table.sessions.size === 1) return trace;
    const endUs = this.#endUs.map((end) => end - movedUs);
    return { ...trace, thinkTimeUs: pausesAfterResponses(table, numberRounds(table, null), endUs) };
  }
}

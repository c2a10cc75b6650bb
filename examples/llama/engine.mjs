// An inference engine in one page: slots, a queue, and a loop of steps in which all running requests advance together.
// llama.cpp computes the steps, through node-llama-cpp; this file schedules them.
import { getLlama, LlamaLogLevel } from 'node-llama-cpp';
import { MARKS } from './vocabulary.mjs';

/** A request: its prompt as tokens, the parameters of the response, and its progress. */
class Job {
  /** Its slot: a sequence of llama.cpp with its KV cache. */
  sequence = null;
  cachedTokens = 0;
  /** Tokens of the prompt that are computed or cached, and tokens of the response. */
  done = 0;
  response = [];

  constructor(prompt, wanted, onToken, signal) {
    this.prompt = prompt;
    this.wanted = wanted;
    this.onToken = onToken;
    this.signal = signal;
    this.finished = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  get isPrefill() {
    return this.done < this.prompt.length;
  }
}

export class Engine {
  /** Counters with the names of llama.cpp's server, and one that its mean is computed from. */
  counters = { prompt_tokens_total: 0, tokens_predicted_total: 0, n_decode_total: 0, n_busy_slots_total: 0 };
  running = [];
  waiting = [];
  #batchTokens;
  #idle = [];
  #goOn;
  #isStepping = false;

  /** @param {{ path: string, slots: number, contextTokens: number, batchTokens: number, threads: number }} options */
  static async load({ path, slots, contextTokens, batchTokens, threads }) {
    const llama = await getLlama({ gpu: false, build: 'never', logLevel: LlamaLogLevel.error, maxThreads: threads });
    const model = await llama.loadModel({ modelPath: path });
    const contextSize = Math.floor(contextTokens / slots);
    const context = await model.createContext({ sequences: slots, contextSize, batchSize: batchTokens, threads });
    return new Engine(llama, model, context);
  }

  constructor(llama, model, context) {
    this.llama = llama;
    this.model = model;
    this.slots = context.totalSequences;
    this.contextTokens = context.contextSize;
    this.#batchTokens = context.batchSize;
    this.#idle = Array.from({ length: this.slots }, () => context.getSequence());
    this.#goOn = model.tokenize(' and')[0];
  }

  tokenize(text) {
    return this.model.tokenize(text, true);
  }

  /** The messages of a chat completion as one text, ending at the start of the response. */
  chatText(messages) {
    const turns = messages.map(({ role, content }) => `${MARKS[role] ?? MARKS.user}${content}${MARKS.end}`);
    return turns.join('') + MARKS.assistant;
  }

  /**
   * Generates the response to a prompt; `onToken` is called with each piece of text.
   * @param {{ maxTokens: number, minTokens: number, temperature: number, seed: number }} wanted
   */
  async generate(prompt, wanted, onToken, signal) {
    const job = new Job(prompt, wanted, onToken, signal);
    this.waiting.push(job);
    if (!this.#isStepping) this.#run();
    return job.finished;
  }

  async close() {
    for (const job of [...this.running, ...this.waiting]) job.reject(new Error('the server is closing'));
    this.running = [];
    this.waiting = [];
    await this.llama.dispose();
  }

  async #run() {
    this.#isStepping = true;
    while (this.running.length + this.waiting.length > 0) {
      try {
        await this.#admit();
        await this.#step();
      } catch (error) {
        for (const job of this.running.splice(0)) this.#leave(job, () => job.reject(error));
      }
    }
    this.#isStepping = false;
  }

  /** Removes cancelled requests and gives free slots to the longest waiting ones. */
  async #admit() {
    const hasLeft = ({ signal }) => signal.aborted;
    for (const job of this.running.filter(hasLeft)) this.#leave(job, () => job.reject(job.signal.reason));
    for (const job of this.waiting.filter(hasLeft)) job.reject(job.signal.reason);
    this.running = this.running.filter((job) => !hasLeft(job));
    this.waiting = this.waiting.filter((job) => !hasLeft(job));
    while (this.waiting.length > 0 && this.#idle.length > 0) {
      const job = this.waiting.shift();
      this.running.push(job);
      job.sequence = this.#slotFor(job.prompt);
      // The last token is always computed: its outcome is the first token of the response.
      await job.sequence.adaptStateToTokens(job.prompt.slice(0, -1), false);
      job.cachedTokens = job.sequence.nextTokenIndex;
      job.done = job.cachedTokens;
    }
  }

  /** The idle slot with the longest prefix of a prompt; among equal ones the least recently used. */
  #slotFor(prompt) {
    const known = this.#idle.map((sequence) => sequence.compareContextTokens(prompt).firstDifferentIndex);
    return this.#idle.splice(known.indexOf(Math.max(...known)), 1)[0];
  }

  /** One batch: a token of every running response, then tokens of prompts, oldest first, up to the batch size. */
  async #step() {
    let room = this.#batchTokens - this.running.filter((job) => !job.isPrefill).length;
    const work = [];
    for (const job of this.running) {
      const tokens = job.isPrefill ? job.prompt.slice(job.done, job.done + room) : [job.response.at(-1)];
      if (job.isPrefill) room -= tokens.length;
      if (tokens.length > 0) work.push(this.#advance(job, tokens));
    }
    this.counters.n_decode_total += work.length > 0 ? 1 : 0;
    this.counters.n_busy_slots_total += work.length;
    await Promise.all(work);
    this.running = this.running.filter((job) => !this.#isOver(job));
  }

  /** node-llama-cpp batches all calls of the same turn of the event loop. */
  async #advance(job, tokens) {
    const { prompt, wanted, response } = job;
    const isLast = job.done + tokens.length >= prompt.length;
    const options = { temperature: wanted.temperature, seed: wanted.seed + response.length };
    const generateNext = isLast ? { token: true, options } : {};
    const outcome = await job.sequence.controlledEvaluate([...tokens.slice(0, -1), [tokens.at(-1), { generateNext }]]);
    if (response.length === 0) {
      job.done += tokens.length;
      this.counters.prompt_tokens_total += tokens.length;
    }
    if (!isLast) return;
    const drawn = outcome.at(-1).next.token;
    const isEarly = drawn === this.model.tokens.eos && response.length < wanted.minTokens;
    const token = isEarly ? this.#goOn : drawn;
    response.push(token);
    this.counters.tokens_predicted_total++;
    if (!job.signal.aborted) job.onToken(this.model.detokenize([token]));
  }

  #isOver(job) {
    const { response, wanted } = job;
    const hasEnded = response.at(-1) === this.model.tokens.eos;
    if (!hasEnded && response.length < wanted.maxTokens) return false;
    const { cachedTokens } = job;
    this.#leave(job, () =>
      job.resolve({ reason: hasEnded ? 'stop' : 'length', tokens: response.length, cachedTokens }),
    );
    return true;
  }

  #leave(job, settle) {
    this.#idle.push(job.sequence);
    settle();
  }
}

import type { RandomStream } from '../../kernel/random-stream.js';
import { workloadImpossible } from '../errors.js';
import { MAX_TOKENS } from '../lengths/limits.js';
import { RequestTable, ROW_GROWS_CONTEXT, ROW_STREAMING } from '../request-table.js';
import { CHATS, INPUT_STREAM, MEDIA_STREAM, Members, OUTPUT_STREAM, REASON_STREAM } from './members.js';
import { emptyDraft, type RequestDraft, type RequestLengths } from './request-lengths.js';
import { SessionBook } from './session-book.js';
import type { ChatPlan, Traffic } from './traffic.js';

const FIRST_ROWS = 1 << 16;
/** Capacity reserved up front: untouched memory costs nothing, but address space does. */
const MOST_ROOM = 1 << 24;

/** Creates rows of the table: single requests, and the turns of sessions. */
export class RequestMaker {
  readonly table: RequestTable;
  readonly members: Members;
  readonly chats = new SessionBook();
  /**
   * Requests that may still be created; the turns of a session that waits for responses are reserved when it begins.
   */
  budget: number;
  readonly #traffics: readonly Traffic[];
  readonly #draft: RequestDraft = emptyDraft();
  /** By traffic. */
  readonly #sloClass: Int32Array;
  readonly #tenant: Int32Array;
  readonly #model: Int32Array;

  constructor(traffics: readonly Traffic[], seed: number, budget: number) {
    const table = new RequestTable(Number.isFinite(budget) ? Math.min(budget, MOST_ROOM) : FIRST_ROWS);
    this.table = table;
    this.members = new Members(traffics, table, seed);
    this.budget = budget;
    this.#traffics = traffics;
    this.#sloClass = Int32Array.from(traffics, ({ spec }) => table.sloClasses.index(spec.slo_class ?? ''));
    this.#tenant = Int32Array.from(traffics, ({ spec }) => table.tenants.index(spec.tenant_id ?? ''));
    this.#model = Int32Array.from(traffics, ({ spec }) => table.models.index(spec.model ?? ''));
    if (traffics.some(({ lengths }) => lengths[0]!.hasKinds)) table.ensureKinds();
  }

  trafficOf(member: number): Traffic {
    return this.#traffics[this.members.traffic[member]!]!;
  }

  /** A request outside sessions; returns its row. */
  request(member: number, atUs: number): number {
    const { members } = this;
    const traffic = this.trafficOf(member);
    const lengths = traffic.lengths[this.#lengthsOf(traffic, member)]!;
    const draft = this.#draft;
    lengths.drawInput(members.stream(member, INPUT_STREAM), draft);
    if (lengths.hasMedia) lengths.drawMedia(members.stream(member, MEDIA_STREAM), draft);
    lengths.drawOutput(members.stream(member, OUTPUT_STREAM), draft);
    if (lengths.hasReason) lengths.drawReason(members.stream(member, REASON_STREAM), draft);
    this.budget--;
    return this.#append(member, traffic, lengths, atUs, traffic.prefixTokens);
  }

  /** Creates the first request of a user who waits for responses. */
  joinUser(member: number, row: number): void {
    const { chats, members, table } = this;
    const session = table.sessions.index(`${members.name(member)}/user_${members.chats[member]!++}`);
    chats.reserve(session);
    chats.member[session] = member;
    table.contextTokens[session] = 0;
    table.session[row] = session;
  }

  /** Plans a session; returns its number. No turn is created yet. */
  beginChat(member: number, chat: ChatPlan): number {
    const { chats, members, table } = this;
    const traffic = this.trafficOf(member);
    const session = table.sessions.index(`${members.name(member)}/chat_${members.chats[member]!++}`);
    chats.reserve(session);
    chats.streams.select(session);
    chats.streams.seedFrom(members.stream(member, CHATS));
    chats.member[session] = member;
    chats.lengths[session] = this.#lengthsOf(traffic, member);
    const rounds = Math.min(this.budget, chat.rounds.draw(chats.streams));
    chats.rounds[session] = rounds;
    table.contextTokens[session] = chat.grows ? this.#wholeContext(session, traffic, chat) : 0;
    if (chat.closed) this.budget -= rounds;
    return session;
  }

  /** The next turn of a session; returns its row. */
  turn(session: number, chat: ChatPlan, atUs: number): number {
    const { chats, table } = this;
    const member = chats.member[session]!;
    const traffic = this.trafficOf(member);
    const lengths = traffic.lengths[chats.lengths[session]!]!;
    const round = chats.made[session]!++;
    chats.streams.select(session);
    this.#drawTurn(lengths, chat, round, chats.streams);
    const before = chats.lastRow[session]!;
    const past =
      round > 0 && chat.grows
        ? table.inputTokens[before]! + Math.max(0, table.outputTokens[before]! - 1)
        : traffic.prefixTokens;
    const row = this.#append(member, traffic, lengths, atUs, past);
    table.session[row] = session;
    table.round[row] = round;
    if (chat.grows) table.flags[row]! |= ROW_GROWS_CONTEXT;
    chats.lastRow[session] = row;
    if (round + 1 < chats.rounds[session]!) chats.pauseUs[session] = chat.pauseUs.draw(chats.streams);
    if (!chat.closed) this.budget--;
    return row;
  }

  #lengthsOf(traffic: Traffic, member: number): number {
    if (traffic.lengths.length === 1) return 0;
    return traffic.schedule.lengthsOf(member - this.members.first[this.members.traffic[member]!]!);
  }

  #drawTurn(lengths: RequestLengths, chat: ChatPlan, round: number, random: RandomStream): void {
    const draft = this.#draft;
    if (round > 0 && chat.laterInput !== null) {
      draft.input = chat.laterInput.draw(random);
      draft.image = 0;
      draft.audio = 0;
      draft.video = 0;
    } else {
      lengths.drawInput(random, draft);
      if (lengths.hasMedia) lengths.drawMedia(random, draft);
    }
    lengths.drawOutput(random, draft);
    if (lengths.hasReason) lengths.drawReason(random, draft);
  }

  /** The length of a session including its last response: draws its turns ahead, and again when they arrive. */
  #wholeContext(session: number, traffic: Traffic, chat: ChatPlan): number {
    const { chats } = this;
    const random = chats.streams;
    const lengths = traffic.lengths[chats.lengths[session]!]!;
    const rounds = chats.rounds[session]!;
    const before = random.state();
    let tokens = traffic.prefixTokens;
    for (let round = 0; round < rounds; round++) {
      this.#drawTurn(lengths, chat, round, random);
      tokens += this.#draft.input + this.#draft.output;
      if (round + 1 < rounds) chat.pauseUs.draw(random);
    }
    random.restore(before);
    if (tokens <= MAX_TOKENS) return tokens;
    const problem = `a session of ${rounds} turns grows to ${tokens} tokens, more than ${MAX_TOKENS}`;
    throw workloadImpossible(traffic.spec.id, problem, 'give it fewer turns, or a max to its lengths');
  }

  #append(member: number, traffic: Traffic, lengths: RequestLengths, atUs: number, past: number): number {
    const { table, members } = this;
    const draft = this.#draft;
    const row = table.append();
    const t = members.traffic[member]!;
    table.arrivalUs[row] = atUs;
    table.inputTokens[row] = Math.min(MAX_TOKENS, past + draft.input);
    table.outputTokens[row] = draft.output;
    if (traffic.timeoutUs > 0) table.deadlineUs[row] = atUs + traffic.timeoutUs;
    table.sloTargetUs[row] = traffic.spec.slo_target_us ?? 0;
    table.sloClass[row] = this.#sloClass[t]!;
    table.tenant[row] = this.#tenant[t]!;
    table.model[row] = this.#model[t]!;
    table.client[row] = members.client[member]!;
    table.prefixGroup[row] = members.prefixGroup[member]!;
    if (traffic.spec.streaming) table.flags[row] = ROW_STREAMING;
    if (lengths.hasKinds) this.#fillKinds(row, lengths);
    return row;
  }

  #fillKinds(row: number, lengths: RequestLengths): void {
    const { table } = this;
    const draft = this.#draft;
    const kinds = table.kinds!;
    if (lengths.hasReason) kinds.reasonRatio[row] = draft.reasonRatio;
    if (!lengths.hasMedia) return;
    const media = draft.image + draft.audio + draft.video;
    // A prefix and a session's past count as text.
    kinds.text[row] = Math.max(0, table.inputTokens[row]! - media);
    kinds.image[row] = draft.image;
    kinds.audio[row] = draft.audio;
    kinds.video[row] = draft.video;
  }
}

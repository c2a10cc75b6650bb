import { randomStream } from '../../kernel/random-stream.js';
import type { RequestTable } from '../request-table.js';
import { isCohort } from '../spec/walk.js';
import { StreamBank } from './stream-bank.js';
import type { Traffic } from './traffic.js';

/** The streams that a client draws from. Sessions draw their turns from separate streams. */
const STREAMS = ['arrival', 'input', 'output', 'media', 'reason', 'chats'] as const;
export const ARRIVAL_STREAM = 0;
export const INPUT_STREAM = 1;
export const OUTPUT_STREAM = 2;
export const MEDIA_STREAM = 3;
export const REASON_STREAM = 4;
export const CHATS = 5;

/** Clients and members of cohorts one by one, numbered through, with their names in the table and their random streams. */
export class Members {
  readonly count: number;
  /** By member. */
  readonly traffic: Int32Array;
  readonly client: Int32Array;
  readonly prefixGroup: Int32Array;
  readonly chats: Int32Array;
  /** By traffic: its first member. */
  readonly first: Int32Array;
  readonly #streams: StreamBank;
  readonly #table: RequestTable;
  readonly #seed: number;

  constructor(traffics: readonly Traffic[], table: RequestTable, seed: number) {
    this.count = traffics.reduce((sum, { members }) => sum + members, 0);
    this.traffic = new Int32Array(this.count);
    this.client = new Int32Array(this.count);
    this.prefixGroup = new Int32Array(this.count);
    this.chats = new Int32Array(this.count);
    this.first = new Int32Array(traffics.length);
    this.#streams = new StreamBank(this.count * STREAMS.length);
    this.#table = table;
    this.#seed = seed;
    let member = 0;
    for (const [t, traffic] of traffics.entries()) {
      this.first[t] = member;
      for (let k = 0; k < traffic.members; k++) this.#enter(member++, t, traffic, k);
    }
  }

  name(member: number): string {
    return this.#table.clients.name(this.client[member]!);
  }

  /** One of the member's streams, named after the member: its draws do not depend on other members. */
  stream(member: number, kind: number): StreamBank {
    const at = member * STREAMS.length + kind;
    const isNew = !this.#streams.isSeeded(at);
    this.#streams.select(at);
    if (isNew) {
      this.#streams.restore(randomStream(this.#seed, `workload/${this.name(member)}/${STREAMS[kind]}`).state());
    }
    return this.#streams;
  }

  #enter(member: number, t: number, { spec, prefixTokens }: Traffic, k: number): void {
    const table = this.#table;
    const own = isCohort(spec) ? `/${k}` : '';
    this.traffic[member] = t;
    this.client[member] = table.clients.index(spec.id + own);
    if (spec.network !== undefined) {
      const { rtt_ms = 0, bandwidth_mbps = 0 } = spec.network;
      table.networks[this.client[member]!] = { rttUs: rtt_ms * 1000, bandwidthMbps: bandwidth_mbps };
    }
    if (spec.prefix_group === undefined) return;
    const perMember = isCohort(spec) && spec.prefix_sharing === 'per_member';
    const group = table.prefixGroups.index(perMember ? spec.prefix_group + own : spec.prefix_group);
    table.prefixTokens[group] = prefixTokens;
    this.prefixGroup[member] = group;
  }
}

import { API_KINDS } from '../../protocol/endpoints.js';
import { tokensOfBytes } from '../../protocol/prompt-bytes.js';
import type { Reservation } from '../access/limits/reservation.js';
import type { RequestRecord } from '../request/request-record.js';
import type { ClientResponse } from './client-response.js';
import type { ExchangeHost } from './exchange-host.js';

/** The usage of a request: counted, settled on its key's accounts and written to the journal, each exactly once. */
export class Settlement {
  /** What is booked on the accounts of its key. */
  reservation: Reservation | null = null;
  readonly #host: ExchangeHost;
  readonly #record: RequestRecord;
  readonly #response: ClientResponse;
  #isNoted = false;

  constructor(host: ExchangeHost, record: RequestRecord, response: ClientResponse) {
    this.#host = host;
    this.#record = record;
    this.#response = response;
  }

  /**
   * Counts the tokens, characters and seconds: those the engine reported, else an estimate. A request that was refused or failed used none, nor
   * did one that only counts tokens; usage recorded before stays.
   */
  count(isWhole: boolean): void {
    const { bytes, meter } = this.#response;
    const record = this.#record;
    const hasWorked = bytes > 0 ? record.status < 400 : record.outcome === 'client_left' && record.attempts > 0;
    if (this.#isNoted || !hasWorked) return;
    if (API_KINDS[record.kind].counts === 'nothing') {
      record.isMetered = true;
      return;
    }
    const { audioSeconds, characters, inputTokens, mostOutput } = record.facts;
    record.characters = characters;
    record.audioSeconds = audioSeconds;
    if (meter === null) {
      record.inputTokens = inputTokens;
      return;
    }
    meter.finish(isWhole, inputTokens, tokensOfBytes(mostOutput === 0 ? 0 : bytes));
    record.inputTokens = meter.inputTokens;
    record.cachedTokens = meter.cachedTokens;
    record.outputTokens = meter.outputTokens;
    record.reasoningTokens = meter.reasoningTokens;
    record.isMetered = meter.isMetered || meter.audioSeconds >= 0;
    if (meter.audioSeconds >= 0 && audioSeconds > 0) record.audioSeconds = meter.audioSeconds;
  }

  /** The record of a stream under way, with its sums so far; null unless the client has received some of it. */
  running(): RequestRecord | null {
    const record = this.#record;
    if (this.#isNoted || !record.isStreamed || !this.#response.hasBegun) return null;
    this.count(false);
    return record;
  }

  /** Replaces the reservation by the actual usage; refunds it where no replica did any work. */
  settle(): void {
    const { reservation } = this;
    if (reservation === null) return;
    this.reservation = null;
    const isServed = this.#response.bytes > 0 || this.#record.inputTokens > 0;
    if (isServed) this.#host.services.access!.settle(reservation, this.#record);
    else this.#host.services.access!.refund(reservation);
  }

  /** Records the usage of a response whose usage is known before its end. */
  noteEarly(): void {
    if (this.#isNoted) return;
    this.#record.endedUs = this.#host.nowUs();
    this.count(true);
    this.note();
  }

  /** Records the usage; the response is released when that is durable. */
  note(): void {
    if (this.#isNoted) {
      if (this.#response.isSafe) this.#response.journalled();
      return;
    }
    this.#isNoted = true;
    this.#host.services.note(this.#record, this.#response);
  }
}

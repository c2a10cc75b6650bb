import { type BlockList, isIPv6, type Socket } from 'node:net';
import { sourceOf } from '../access/keys/wrong-keys.js';

/** The open connections of each address, of IPv6 of each /64 network, up to a limit. */
export class AddressCounts {
  readonly #most: number;
  readonly #uncapped: BlockList;
  readonly #counts = new Map<string, number>();

  /** @param uncapped addresses without a limit */
  constructor(most: number, uncapped: BlockList) {
    this.#most = most;
    this.#uncapped = uncapped;
  }

  /** Counts a connection until it closes; returns false when its address has too many. */
  enter(socket: Socket): boolean {
    const { remoteAddress = '' } = socket;
    const source = sourceOf(remoteAddress);
    const count = this.#counts.get(source) ?? 0;
    const isUncapped = () => this.#uncapped.check(remoteAddress, isIPv6(remoteAddress) ? 'ipv6' : 'ipv4');
    if (count >= this.#most && !isUncapped()) return false;
    this.#counts.set(source, count + 1);
    socket.once('close', () => this.#leave(source));
    return true;
  }

  #leave(source: string): void {
    const left = this.#counts.get(source)! - 1;
    if (left === 0) this.#counts.delete(source);
    else this.#counts.set(source, left);
  }
}

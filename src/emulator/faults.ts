import { type RandomStream, randomStream } from '../kernel/random-stream.js';
import { ApiError } from '../protocol/errors.js';
import { type JsonObject, wrongType } from '../protocol/json/json-body.js';

/** The configured faults and their rates. */
export interface Faults {
  /** Shares of requests that get status 500, that get no response, and whose connection is reset midway. */
  failRate: number;
  hangRate: number;
  disconnectRate: number;
  /** How many times as long steps take. */
  slowFactor: number;
  /** While true, the engine sends nothing and makes no progress. */
  frozen: boolean;
}

export const NO_FAULTS: Faults = { failRate: 0, hangRate: 0, disconnectRate: 0, slowFactor: 1, frozen: false };

export type Fate = 'served' | 'failed' | 'hung' | 'disconnected';

/** Draws the fate of requests: the n-th request of a seed has the same fate as long as the rates are the same. */
export class FaultDice {
  settings: Faults;
  readonly #random: RandomStream;

  constructor(settings: Faults, seed: number) {
    this.settings = settings;
    this.#random = randomStream(seed, 'faults');
  }

  draw(): Fate {
    const { failRate, hangRate, disconnectRate } = this.settings;
    const x = this.#random.next();
    if (x < failRate) return 'failed';
    if (x < failRate + hangRate) return 'hung';
    return x < failRate + hangRate + disconnectRate ? 'disconnected' : 'served';
  }

  /** After how many tokens of a request the connection breaks: at least one is sent. */
  tokensBeforeReset(tokens: number): number {
    return 1 + this.#random.below(tokens);
  }
}

const FIELDS = {
  fail_rate: 'failRate',
  hang_rate: 'hangRate',
  disconnect_rate: 'disconnectRate',
  slow_factor: 'slowFactor',
} as const;

/** The settings with those changed that a body of `POST /admin/faults` names. */
export function changedFaults(before: Faults, body: JsonObject): Faults {
  const after = { ...before };
  for (const [field, value] of Object.entries(body)) {
    if (field === 'frozen') {
      if (typeof value !== 'boolean') throw wrongType(field, 'true or false');
      after.frozen = value;
      continue;
    }
    const name = FIELDS[field as keyof typeof FIELDS];
    if (name === undefined) {
      const known = [...Object.keys(FIELDS), 'frozen'].join(', ');
      throw new ApiError('malformed', `'${field}' is no fault; known: ${known}.`, field);
    }
    after[name] = checked(field, value, name === 'slowFactor');
  }
  return after;
}

function checked(field: string, value: unknown, isFactor: boolean): number {
  const fits = typeof value === 'number' && (isFactor ? value > 0 && value <= 1e6 : value >= 0 && value <= 1);
  if (!fits) throw wrongType(field, isFactor ? 'a number above 0, at most 1000000' : 'a share from 0 to 1');
  return value;
}

/** The settings as `GET /admin/faults` shows them. */
export function faultsBody({ failRate, hangRate, disconnectRate, slowFactor, frozen }: Faults): JsonObject {
  return { fail_rate: failRate, hang_rate: hangRate, disconnect_rate: disconnectRate, slow_factor: slowFactor, frozen };
}

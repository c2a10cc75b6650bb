import { BodyScanner, type ScannedBody, scanBody } from '../../protocol/body/scanned-body.js';
import { API_KINDS, type ApiKind } from '../../protocol/endpoints.js';
import { ApiError } from '../../protocol/errors.js';
import { readFormData } from '../../protocol/form-data.js';
import type { BodyHold } from './body-budget.js';

/** A body that is complete. */
export interface ReceivedBody {
  /** As it was sent. */
  readonly bytes: Buffer;
  /** Its fields; those of a form as an object of its texts. */
  readonly body: ScannedBody;
  /** The file of a form. */
  readonly file: Buffer | null;
}

/** Counts and scans the body of a request while it arrives, so that nothing is left to do for a long one at its end. */
export class ArrivingBody {
  readonly #isForm: boolean;
  /** Nothing of it is needed: what is requested is in the path. */
  readonly #isIgnored: boolean;
  /** It need not have a body. */
  readonly #mayBeEmpty: boolean;
  readonly #contentType: string | undefined;
  /** Null while nothing has arrived: a body that comes in one piece needs no scanner of its own. */
  #scanner: BodyScanner | null = null;

  readonly #hold: BodyHold;

  constructor(kind: ApiKind, contentType: string | undefined, hold: BodyHold) {
    this.#hold = hold;
    this.#isForm = kind === 'other' ? isFormData(contentType) : (API_KINDS[kind].isForm ?? false);
    this.#isIgnored = kind === 'stored-response';
    this.#mayBeEmpty = kind === 'other';
    this.#contentType = contentType;
  }

  /** Looks at the pieces; returns why the body is refused. */
  readonly watch = (bytes: Buffer, length: number): ApiError | null => {
    const refusal = this.#hold.grow(length);
    if (refusal !== null || this.#isForm || this.#isIgnored) return refusal;
    this.#scanner ??= new BodyScanner();
    try {
      this.#scanner.scan(bytes, length);
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
    return null;
  };

  /** @param bytes the whole body; throws an ApiError when it is invalid */
  end(bytes: Buffer): ReceivedBody {
    const refusal = this.#hold.grow(bytes.length);
    if (refusal !== null) throw refusal;
    if (this.#isIgnored || (this.#mayBeEmpty && bytes.length === 0)) {
      return { bytes, body: scanBody(Buffer.from('{}')), file: null };
    }
    if (this.#isForm) {
      const { fields, file } = readFormData(bytes, this.#contentType);
      return { bytes, body: scanBody(Buffer.from(JSON.stringify(fields))), file };
    }
    return { bytes, body: this.#scanner === null ? scanBody(bytes) : this.#scanner.end(bytes), file: null };
  }
}

function isFormData(contentType: string | undefined): boolean {
  return contentType?.toLowerCase().startsWith('multipart/form-data') === true;
}

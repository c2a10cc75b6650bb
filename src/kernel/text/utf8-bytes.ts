/**
 * Text as UTF-8 bytes in one buffer that is reused for every text: hashing allocates nothing. Half a surrogate pair
 * becomes U+FFFD, as everywhere.
 */
export class Utf8Bytes {
  /** At least `room` bytes after the text can be written. */
  bytes: Uint8Array = new Uint8Array(256);
  readonly #room: number;

  constructor(room: number) {
    this.#room = room;
  }

  /** Writes the text's bytes from the beginning of the buffer; how many there are. */
  write(text: string): number {
    const most = text.length * 3 + this.#room;
    if (this.bytes.length < most) this.bytes = new Uint8Array(most * 2);
    const bytes = this.bytes;
    let at = 0;
    for (let i = 0; i < text.length; i++) {
      let code = text.charCodeAt(i);
      if (code < 0x80) {
        bytes[at++] = code;
        continue;
      }
      if (code < 0x800) {
        bytes[at++] = 0xc0 | (code >> 6);
      } else {
        if (code >= 0xd800 && code < 0xe000) {
          const low = code < 0xdc00 && i + 1 < text.length ? text.charCodeAt(i + 1) : 0;
          if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            i++;
          } else {
            code = 0xfffd;
          }
        }
        if (code < 0x10000) {
          bytes[at++] = 0xe0 | (code >> 12);
        } else {
          bytes[at++] = 0xf0 | (code >> 18);
          bytes[at++] = 0x80 | ((code >> 12) & 0x3f);
        }
        bytes[at++] = 0x80 | ((code >> 6) & 0x3f);
      }
      bytes[at++] = 0x80 | (code & 0x3f);
    }
    return at;
  }
}

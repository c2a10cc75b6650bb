/** Bytes of a second of compressed audio, where the length is unknown: 128 kbit/s. */
const COMPRESSED_BYTES = 16_000;
const WAV_HEAD = 44;

/**
 * The estimated seconds of an audio file, rounded up: of a WAV file by its byte rate, of any other at 128 kbit/s. The
 * header is the client's claim; a rate that no recording has does not count.
 */
export function audioSeconds(file: Buffer): number {
  const isWav =
    file.length > WAV_HEAD && file.toString('latin1', 0, 4) === 'RIFF' && file.toString('latin1', 8, 12) === 'WAVE';
  const rate = isWav ? file.readUInt32LE(28) : 0;
  return Math.ceil(file.length / (rate >= 1000 && rate <= 1_536_000 ? rate : COMPRESSED_BYTES));
}

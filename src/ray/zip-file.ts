import { crc32 } from 'node:zlib';

export interface ZippedFile {
  /** ASCII. */
  readonly name: string;
  readonly content: Buffer;
}

const VERSION = 20;
/** 1980-01-01, the earliest there is: the same files give the same bytes. */
const DATE = 0x21;
/** A regular file that its owner alone may read. */
const ATTRIBUTES = 0o100600 * 2 ** 16;
const MADE_ON_UNIX = 3 << 8;

/** A zip file without compression: a few small files for Ray's `working_dir`. */
export function zipFile(files: readonly ZippedFile[]): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { content, name } of files) {
    const path = Buffer.from(name, 'latin1');
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(VERSION, 0);
    facts.writeUInt16LE(DATE, 8);
    facts.writeUInt32LE(crc32(content), 10);
    facts.writeUInt32LE(content.length, 14);
    facts.writeUInt32LE(content.length, 18);
    facts.writeUInt16LE(path.length, 22);
    const entry = Buffer.concat([Buffer.from('PK\x03\x04'), facts, path, content]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(ATTRIBUTES, 6);
    rest.writeUInt32LE(offset, 10);
    const madeBy = Buffer.alloc(2);
    madeBy.writeUInt16LE(MADE_ON_UNIX | VERSION, 0);
    local.push(entry);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02'), madeBy, facts, rest, path]));
    offset += entry.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...local, directory, Buffer.from('PK\x05\x06'), end]);
}

import { inflateRawSync } from 'node:zlib';

const TAR_BLOCK = 512;
const ZIP_END = 0x06054b50;
const ZIP_END_SIZE = 22;
const ZIP_STORED = 0;

/** One file of a tar archive, by its exact name. */
export function tarEntry(archive: Buffer, name: string): Buffer {
  let at = 0;
  while (at + TAR_BLOCK <= archive.length) {
    const header = archive.subarray(at, at + TAR_BLOCK);
    const size = parseInt(header.toString('latin1', 124, 136), 8) || 0;
    if (header.toString('latin1', 0, 100).replace(/\0.*$/, '') === name) {
      return archive.subarray(at + TAR_BLOCK, at + TAR_BLOCK + size);
    }
    at += TAR_BLOCK * (1 + Math.ceil(size / TAR_BLOCK));
  }
  throw new Error(`There is no ${name} in the tar archive.`);
}

/** One file of a zip archive, by its exact name. */
export function zipEntry(archive: Buffer, name: string): Buffer {
  const end = archive.length - ZIP_END_SIZE;
  if (archive.readUInt32LE(end) !== ZIP_END) {
    throw new Error('The zip archive has a comment or is damaged.');
  }
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    const nameLength = archive.readUInt16LE(at + 28);
    if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) {
      return zipContent(archive, at);
    }
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new Error(`There is no ${name} in the zip archive.`);
}

function zipContent(archive: Buffer, directoryEntry: number): Buffer {
  const method = archive.readUInt16LE(directoryEntry + 10);
  const size = archive.readUInt32LE(directoryEntry + 20);
  const local = archive.readUInt32LE(directoryEntry + 42);
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const content = archive.subarray(start, start + size);
  return method === ZIP_STORED ? content : inflateRawSync(content);
}

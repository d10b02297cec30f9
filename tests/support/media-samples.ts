/** Contents of small files by what they are, made by hand. */

const text = (value: string) => Buffer.from(value, 'latin1');

export function aPng(width = 2, height = 2): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const ihdr = Buffer.concat([text('IHDR'), header, Buffer.from([8, 6, 0, 0, 0]), Buffer.alloc(4)]);
  return Buffer.concat([text('\x89PNG\r\n\x1a\n'), Buffer.from([0, 0, 0, 13]), ihdr, text('\0\0\0\0IEND\xae\x42\x60\x82')]);
}

export function aGif(width = 2, height = 2): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt16LE(width, 0);
  size.writeUInt16LE(height, 2);
  return Buffer.concat([text('GIF89a'), size, Buffer.from([0, 0, 0, 0x3b])]);
}

export function aJpeg(width = 2, height = 2): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt16BE(height, 0);
  size.writeUInt16BE(width, 2);
  const app0 = Buffer.concat([Buffer.from([0xff, 0xe0, 0, 16]), text('JFIF\0'), Buffer.from([1, 1, 0, 0, 1, 0, 1, 0, 0])]);
  const frame = Buffer.concat([Buffer.from([0xff, 0xc0, 0, 11, 8]), size, Buffer.from([1, 1, 0x11, 0])]);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), app0, frame, Buffer.from([0xff, 0xd9])]);
}

export function aWebp(width = 2, height = 2): Buffer {
  const size = Buffer.alloc(6);
  size.writeUIntLE(width - 1, 0, 3);
  size.writeUIntLE(height - 1, 3, 3);
  const frame = Buffer.from(text('VP8L\x05\0\0\0\x2f\0\0\0\0\0'));
  frame.writeUInt32LE(((height - 1) << 14) | (width - 1), 9);
  return Buffer.concat([text('RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0'), size, frame]);
}

export const anMp4 = (brand = 'isom') => text(`\0\0\0\x18ftyp${brand}\0\0\x02\0isomiso2\0\0\0\x08mdat`);

export const aWebm = () => text('\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\xf7\x81\x01\x42\x82\x84webm\x42\x87\x81\x04');

export const aPdf = () => text('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\nendobj\n');

/** An archive with one stored entry of this name. */
export function aZip(entry = 'log.txt'): Buffer {
  const head = Buffer.alloc(30);
  head.write('PK\x03\x04', 'latin1');
  head.writeUInt16LE(entry.length, 26);
  return Buffer.concat([head, text(entry), text('content')]);
}

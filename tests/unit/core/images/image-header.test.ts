import { describe, expect, it } from 'vitest';
import { readImageHeader } from '../../../../src/core/images/image-header.ts';
import { aJpeg, aPng, aWebp, withOrientation } from '../../../support/image-samples.ts';

/** An extended WebP whose canvas is 10 by 8, around the frame of another one. */
function extended(frameOf: Buffer, flags = 0): Buffer {
  const frame = frameOf.subarray(12);
  const head = Buffer.alloc(30);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(22 + frame.length, 4);
  head.write('WEBPVP8X', 8, 'latin1');
  head.writeUInt32LE(10, 16);
  head.writeUInt8(flags, 20);
  head.writeUIntLE(9, 24, 3);
  head.writeUIntLE(7, 27, 3);
  return Buffer.concat([head, frame]);
}

describe('the header of an image', () => {
  it.each([
    ['a PNG', aPng(30, 20), { format: 'png', width: 30, height: 20, isAnimated: false, orientation: 1 }],
    [
      'an animated PNG',
      aPng(3, 2, { isAnimated: true }),
      { format: 'png', width: 3, height: 2, isAnimated: true, orientation: 1 },
    ],
    ['a JPEG', aJpeg(30, 20), { format: 'jpeg', width: 30, height: 20, isAnimated: false, orientation: 1 }],
    [
      'a turned JPEG',
      withOrientation(aJpeg(30, 20), 6),
      { format: 'jpeg', width: 30, height: 20, isAnimated: false, orientation: 6 },
    ],
    ['a WebP', aWebp(30, 20), { format: 'webp', width: 30, height: 20, isAnimated: false, orientation: 1 }],
    ['an extended WebP', extended(aWebp(10, 8)), { format: 'webp', width: 10, height: 8, isAnimated: false, orientation: 1 }],
    ['an animated WebP', extended(aWebp(1, 1), 2), { format: 'webp', width: 10, height: 8, isAnimated: true, orientation: 1 }],
  ])('%s', (_name, bytes, header) => {
    expect(readImageHeader(bytes)).toEqual(header);
  });

  it('of a lossy WebP has no scale bits in its sizes', () => {
    const bytes = Buffer.alloc(30);
    bytes.write('RIFF', 0, 'latin1');
    bytes.write('WEBPVP8 ', 8, 'latin1');
    bytes.writeUIntBE(0x9d012a, 23, 3);
    bytes.writeUInt16LE(0x4000 | 300, 26);
    bytes.writeUInt16LE(0xc000 | 200, 28);
    expect(readImageHeader(bytes)).toMatchObject({ width: 300, height: 200 });
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a page', Buffer.from('<html><script>alert(1)</script>')],
    ['a GIF', Buffer.from('GIF89a\x01\0\x01\0', 'latin1')],
    ['only the signature of a PNG', aPng(1, 1).subarray(0, 8)],
    ['a PNG that begins with pixels', Buffer.concat([aPng(1, 1).subarray(0, 8), aPng(1, 1).subarray(33)])],
    ['a PNG without width', aPng(0, 5)],
    ['a PNG whose width is negative', aPng(0x8000_0001, 1, { isHollow: true })],
    ['a JPEG that ends before its frame', aJpeg(3, 2).subarray(0, 20)],
    ['a WebP whose frame is larger than its canvas', extended(aWebp(500, 500))],
    ['a RIFF file of sound', Buffer.from('RIFF\0\0\0\0WAVEfmt ', 'latin1')],
  ])('%s has none', (_name, bytes) => {
    expect(readImageHeader(bytes)).toBeNull();
  });

  it('is read or refused from every beginning of a file, without an error', () => {
    for (const image of [aPng(3, 2), withOrientation(aJpeg(3, 2), 3), aWebp(3, 2), extended(aWebp(10, 8))]) {
      for (let length = 0; length <= image.length; length += 1) {
        const header = readImageHeader(image.subarray(0, length));
        if (header !== null) expect(header).toMatchObject({ isAnimated: false });
      }
    }
  });
});

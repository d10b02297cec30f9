import { crc32, deflateSync } from 'node:zlib';
import { PhotonImage } from '@silvia-odwyer/photon-node';

/** A PNG whose header says what it likes; with `isHollow` there are no pixels, so that only a decoder would notice. */
export function aPng(width: number, height: number, { isHollow = false, isAnimated = false } = {}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits of red, green, blue and alpha.
  header.set([8, 6], 8);
  const rows = isHollow ? Buffer.alloc(0) : Buffer.alloc((width * 4 + 1) * height);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    ...(isAnimated ? [chunk('acTL', Buffer.from([0, 0, 0, 2, 0, 0, 0, 0]))] : []),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, sum]);
}

type Color = readonly [red: number, green: number, blue: number];

const RED: Color = [255, 0, 0];
const BLUE: Color = [0, 0, 255];

/** An image whose left half is red and whose right half is blue. */
function twoHalves(width: number, height: number): PhotonImage {
  const pixels = new Uint8Array(width * height * 4);
  for (let at = 0; at < width * height; at += 1) {
    pixels.set([...(at % width < width / 2 ? RED : BLUE), 255], at * 4);
  }
  return new PhotonImage(pixels, width, height);
}

export function aJpeg(width: number, height: number): Buffer {
  return Buffer.from(twoHalves(width, height).get_bytes_jpeg(90));
}

export function aWebp(width: number, height: number): Buffer {
  return Buffer.from(twoHalves(width, height).get_bytes_webp());
}

/** The same JPEG with EXIF data that say how it is turned. */
export function withOrientation(jpeg: Buffer, orientation: number): Buffer {
  const tiff = Buffer.from('4d4d002a00000008000101120003000000010000000000000000', 'hex');
  tiff.writeUInt16BE(orientation, 18);
  const body = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff]);
  const size = Buffer.alloc(2);
  size.writeUInt16BE(body.length + 2);
  return Buffer.concat([jpeg.subarray(0, 2), Buffer.from([0xff, 0xe1]), size, body, jpeg.subarray(2)]);
}

/** What a viewer shows: the size, and the colour at a place given in parts of the sides. */
export function decoded(bytes: Uint8Array): { width: number; height: number; colorAt: (x: number, y: number) => number[] } {
  const image = PhotonImage.new_from_byteslice(bytes);
  const [width, height, pixels] = [image.get_width(), image.get_height(), image.get_raw_pixels()];
  return {
    width,
    height,
    colorAt: (x, y) => {
      const at = (Math.floor(y * height) * width + Math.floor(x * width)) * 4;
      return [...pixels.subarray(at, at + 3)];
    },
  };
}

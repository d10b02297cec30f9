/**
 * Format and dimensions of an image, read from its first bytes: enough to know what a decoder would allocate, before one runs. Files name
 * themselves and declare types as they like; only these bytes decide.
 */

export type RasterFormat = 'png' | 'jpeg' | 'webp';

export interface ImageHeader {
  format: RasterFormat;
  /** Pixels as stored, before `orientation` applies. */
  width: number;
  height: number;
  isAnimated: boolean;
  /** 1 to 8 as in EXIF: how viewers turn the stored pixels. */
  orientation: number;
}

/** @returns null for anything else than a PNG, JPEG or WebP image with valid dimensions */
export function readImageHeader(bytes: Buffer): ImageHeader | null {
  try {
    const header = readPng(bytes) ?? readJpeg(bytes) ?? readWebp(bytes);
    return header !== null && header.width > 0 && header.height > 0 ? header : null;
  } catch (error) {
    // The file ends within its header.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function readPng(bytes: Buffer): ImageHeader | null {
  if (!bytes.subarray(0, 8).equals(PNG_SIGNATURE)) return null;
  if (bytes.readUInt32BE(8) !== 13 || textAt(bytes, 12, 4) !== 'IHDR') return null;
  const [width, height] = [bytes.readInt32BE(16), bytes.readInt32BE(20)];
  return { format: 'png', width, height, isAnimated: isAnimatedPng(bytes), orientation: 1 };
}

/** An animation announces itself before the first pixels. */
function isAnimatedPng(bytes: Buffer): boolean {
  for (let at = 8; at + 8 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const type = textAt(bytes, at + 4, 4);
    if (type === 'acTL') return true;
    if (type === 'IDAT') return false;
  }
  return false;
}

function readJpeg(bytes: Buffer): ImageHeader | null {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null;
  let orientation = 1;
  for (let at = 2; ; ) {
    if (bytes.readUInt8(at) !== 0xff) return null;
    const marker = bytes.readUInt8(at + 1);
    // Any number of 0xff may come before a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const size = bytes.readUInt16BE(at + 2);
    if (isFrameStart(marker)) {
      const [height, width] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)];
      return { format: 'jpeg', width, height, isAnimated: false, orientation };
    }
    // The pixels, or the end, before a frame.
    if (marker === 0xda || marker === 0xd9 || size < 2) return null;
    if (marker === 0xe1 && textAt(bytes, at + 4, 6) === 'Exif\0\0') {
      orientation = orientationIn(bytes.subarray(at + 10, at + 2 + size));
    }
    at += 2 + size;
  }
}

/** SOF0 to SOF15 without the tables that have numbers among them. */
function isFrameStart(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

const ORIENTATION_TAG = 0x0112;

/** Of the first directory; 1 where none is stated. @param tiff the EXIF block, a TIFF file */
function orientationIn(tiff: Buffer): number {
  const order = textAt(tiff, 0, 2);
  if (tiff.length < 8 || (order !== 'II' && order !== 'MM')) return 1;
  const read16 = (at: number) => (order === 'II' ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const directory = order === 'II' ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  if (directory + 2 > tiff.length) return 1;
  const entries = read16(directory);
  for (let at = directory + 2; at < directory + 2 + entries * 12 && at + 12 <= tiff.length; at += 12) {
    if (read16(at) !== ORIENTATION_TAG) continue;
    const value = read16(at + 8);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

function readWebp(bytes: Buffer): ImageHeader | null {
  if (textAt(bytes, 0, 4) !== 'RIFF' || textAt(bytes, 8, 4) !== 'WEBP') return null;
  const first = frameSize(bytes, 12);
  if (first) return { format: 'webp', ...first, isAnimated: false, orientation: 1 };
  if (textAt(bytes, 12, 4) !== 'VP8X') return null;
  const canvas = { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  const isAnimated = (bytes.readUInt8(20) & 0x02) !== 0;
  // A decoder allocates by the frame and not by the canvas, so the two must agree.
  if (!isAnimated && !sameSize(canvas, firstFrame(bytes))) return null;
  return { format: 'webp', ...canvas, isAnimated, orientation: 1 };
}

interface Size {
  width: number;
  height: number;
}

/** Size in the chunk at this place; null when it is no frame. */
function frameSize(bytes: Buffer, at: number): Size | null {
  const type = textAt(bytes, at, 4);
  if (type === 'VP8 ' && bytes.readUIntBE(at + 11, 3) === 0x9d012a) {
    return { width: bytes.readUInt16LE(at + 14) & 0x3fff, height: bytes.readUInt16LE(at + 16) & 0x3fff };
  }
  if (type === 'VP8L' && bytes.readUInt8(at + 8) === 0x2f) {
    const bits = bytes.readUInt32LE(at + 9);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  return null;
}

function firstFrame(bytes: Buffer): Size | null {
  // Chunks have even lengths, with a byte of padding behind odd ones.
  for (let at = 12; at + 8 <= bytes.length; at += 8 + evenSize(bytes.readUInt32LE(at + 4))) {
    const size = frameSize(bytes, at);
    if (size) return size;
  }
  return null;
}

const evenSize = (size: number) => size + (size % 2);

const sameSize = (one: Size, other: Size | null) => other !== null && one.width === other.width && one.height === other.height;

const textAt = (bytes: Buffer, at: number, length: number) => bytes.toString('latin1', at, at + length);

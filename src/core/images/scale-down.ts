/**
 * Decodes, scales and encodes. The codecs are Photon's (Apache-2.0): Rust compiled to WebAssembly, so that nothing of the machine is needed and a
 * defect in a decoder stays within the memory of the module. `sharp` is faster, but its prebuilt libvips is under LGPL, which does not ship.
 * Only for the thread of `image-thread.ts`: it takes long, and a failed decoder leaves the module unusable.
 */

import { PhotonImage, resize, SamplingFilter } from '@silvia-odwyer/photon-node';
import type { ImageHeader, RasterFormat } from './image-header.ts';

const JPEG_QUALITY = 88;

const ENCODERS: Readonly<Record<RasterFormat, (image: PhotonImage) => Uint8Array>> = {
  png: (image) => image.get_bytes(),
  jpeg: (image) => image.get_bytes_jpeg(JPEG_QUALITY),
  // Without loss: Photon has no other encoder for it.
  webp: (image) => image.get_bytes_webp(),
};

/**
 * @param maxSide longest side of the result in pixels
 * @throws Error when the image cannot be decoded
 */
export function scaleDown(bytes: Uint8Array, header: ImageHeader, maxSide: number): Uint8Array {
  const image = PhotonImage.new_from_byteslice(bytes);
  const scale = Math.min(1, maxSide / Math.max(image.get_width(), image.get_height()));
  const side = (length: number) => Math.max(1, Math.round(length * scale));
  const small = resize(image, side(image.get_width()), side(image.get_height()), SamplingFilter.Lanczos3);
  // The new file has no EXIF data that would turn it.
  const upright = turnUpright(
    { pixels: small.get_raw_pixels(), width: small.get_width(), height: small.get_height() },
    header.orientation,
  );
  return ENCODERS[header.format](new PhotonImage(upright.pixels, upright.width, upright.height));
}

/** Pixels in rows from the top left, 4 bytes each. */
interface Pixels {
  pixels: Uint8Array;
  width: number;
  height: number;
}

type Place = readonly [x: number, y: number];

/** Where the pixel of the upright image at (x, y) is stored, by EXIF orientation; width and height are those of the stored image. */
const SOURCES: Readonly<Record<number, (x: number, y: number, width: number, height: number) => Place>> = {
  2: (x, y, width) => [width - 1 - x, y],
  3: (x, y, width, height) => [width - 1 - x, height - 1 - y],
  4: (x, y, _width, height) => [x, height - 1 - y],
  5: (x, y) => [y, x],
  6: (x, y, _width, height) => [y, height - 1 - x],
  7: (x, y, width, height) => [width - 1 - y, height - 1 - x],
  8: (x, y, width) => [width - 1 - y, x],
};

/** Applies the orientation that viewers would apply. @param orientation 1 to 8 as in EXIF; from 5 on width and height change places */
export function turnUpright(image: Pixels, orientation: number): Pixels {
  const sourceOf = SOURCES[orientation];
  if (!sourceOf) return image;
  const { width: storedWidth, height: storedHeight } = image;
  const [width, height] = orientation >= 5 ? [storedHeight, storedWidth] : [storedWidth, storedHeight];
  const pixels = new Uint8Array(image.pixels.length);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const [sourceX, sourceY] = sourceOf(x, y, storedWidth, storedHeight);
      const source = (sourceY * storedWidth + sourceX) * 4;
      pixels.set(image.pixels.subarray(source, source + 4), (y * width + x) * 4);
    }
  }
  return { pixels, width, height };
}

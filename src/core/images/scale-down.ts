/**
 * Decodes, scales and encodes. The codecs are Photon's (Apache-2.0): Rust compiled to WebAssembly, so that nothing of the machine is needed and a
 * defect in a decoder stays within the memory of the module. `sharp` is faster, but its prebuilt libvips is under LGPL, which does not ship.
 * Only for the thread of `image-thread.ts`: it takes long, and a failed decoder leaves the module unusable.
 */
import { PhotonImage, resize, SamplingFilter } from '@silvia-odwyer/photon-node';
import type { ImageHeader, RasterFormat } from './image-header.ts';
import { turnUpright } from './turn-upright.ts';

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

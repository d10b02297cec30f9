/**
 * Thread of `resize-image.ts`. The codecs are Photon's (Apache-2.0): Rust compiled to WebAssembly, so that nothing of the machine is needed and
 * a defect in a decoder stays within the memory of the module. `sharp` is faster, but its prebuilt libvips is under LGPL, which does not ship.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { PhotonImage, resize, SamplingFilter } from '@silvia-odwyer/photon-node';
import type { RasterFormat } from './image-header.ts';
import type { ResizeReply, ResizeTask } from './resize-image.ts';
import { turnUpright } from './turn-upright.ts';

const JPEG_QUALITY = 88;

const ENCODERS: Readonly<Record<RasterFormat, (image: PhotonImage) => Uint8Array>> = {
  png: (image) => image.get_bytes(),
  jpeg: (image) => image.get_bytes_jpeg(JPEG_QUALITY),
  // Without loss: Photon has no other encoder for it.
  webp: (image) => image.get_bytes_webp(),
};

function run({ bytes, header, maxSide }: ResizeTask): Uint8Array {
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

function reply(): ResizeReply {
  try {
    return { bytes: run(workerData as ResizeTask) };
  } catch (error) {
    return { error: String(error) };
  }
}

parentPort?.postMessage(reply());

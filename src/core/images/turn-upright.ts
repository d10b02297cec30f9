/** Pixels in rows from the top left, 4 bytes each. */
export interface Pixels {
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

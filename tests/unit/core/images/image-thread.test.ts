import { describe, expect, it } from 'vitest';
import { readImageHeader } from '../../../../src/core/images/image-header.ts';
import { cleanSvg, resizeImage } from '../../../../src/core/images/image-thread.ts';
import { turnUpright } from '../../../../src/core/images/scale-down.ts';
import { aJpeg, aPng, aWebp, decoded, withOrientation } from '../../../support/image-samples.ts';

const small = async (bytes: Buffer) => resizeImage(bytes, readImageHeader(bytes)!, 64);

describe('resizing', () => {
  it.each([
    ['png', aPng(200, 100), [64, 32]],
    ['jpeg', aJpeg(100, 200), [32, 64]],
    ['webp', aWebp(200, 100), [64, 32]],
    ['png', aPng(3000, 2), [64, 1]],
  ] as const)('keeps the format %s and the proportions, and no side is 0', async (format, bytes, [width, height]) => {
    const result = await small(bytes);
    expect(readImageHeader(result!)).toEqual({ format, width, height, isAnimated: false, orientation: 1 });
    expect(decoded(result!)).toMatchObject({ width, height });
  });

  it('turns a JPEG as its EXIF data say, because the result has none', async () => {
    // Left red, right blue; to be turned to the right: red is above.
    const { width, height, colorAt } = decoded((await small(withOrientation(aJpeg(200, 100), 6)))!);
    expect([width, height]).toEqual([32, 64]);
    const [above, below] = [colorAt(0.5, 0.1), colorAt(0.5, 0.9)];
    expect(above[0]).toBeGreaterThan(200);
    expect(above[2]).toBeLessThan(60);
    expect(below[2]).toBeGreaterThan(200);
    expect(below[0]).toBeLessThan(60);
  });

  it('gives nothing for pixels that cannot be decoded, and then still resizes', async () => {
    const hollow = aPng(2000, 2000, { isHollow: true });
    const [broken, whole] = await Promise.all([small(hollow), small(aPng(100, 100))]);
    expect(broken).toBeNull();
    expect(whole).not.toBeNull();
  });
});

it('an SVG image is cleaned in a thread as well, and what is none gives nothing', async () => {
  const [clean, none] = await Promise.all([
    cleanSvg(Buffer.from('<svg><script/><g/></svg>')),
    cleanSvg(Buffer.from('<html></html>')),
  ]);
  expect(clean?.toString()).toBe('<svg xmlns="http://www.w3.org/2000/svg"><g/></svg>');
  expect(none).toBeNull();
});

describe('turning upright', () => {
  // Pixels 1 2 3 over 4 5 6.
  const image = {
    pixels: Uint8Array.from([1, 2, 3, 4, 5, 6].flatMap((value) => [value, value, value, 255])),
    width: 3,
    height: 2,
  };
  const turned = (orientation: number) => {
    const { pixels, width, height } = turnUpright(image, orientation);
    const values = [...pixels].filter((_value, at) => at % 4 === 0);
    return Array.from({ length: height }, (_none, row) => values.slice(row * width, (row + 1) * width).join(' '));
  };

  it.each([
    [1, ['1 2 3', '4 5 6']],
    [2, ['3 2 1', '6 5 4']],
    [3, ['6 5 4', '3 2 1']],
    [4, ['4 5 6', '1 2 3']],
    [5, ['1 4', '2 5', '3 6']],
    [6, ['4 1', '5 2', '6 3']],
    [7, ['6 3', '5 2', '4 1']],
    [8, ['3 6', '2 5', '1 4']],
  ])('orientation %i', (orientation, rows) => {
    expect(turned(orientation)).toEqual(rows);
  });
});

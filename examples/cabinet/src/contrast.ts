/** Readable colours: the operator chooses any, and texts keep the contrast that WCAG 2 asks for (AA, 4.5 : 1). */

type Rgb = [number, number, number];

/** Above 4.5, because some texts are on a slightly tinted background. */
const WANTED = 5.2;
const STEPS = 20;

function parse(color: string): Rgb | null {
  const hex = /^#([0-9a-f]{6})$/i.exec(color)?.[1];
  if (hex === undefined) return null;
  return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as Rgb;
}

function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: Rgb, other: Rgb): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function mix(from: Rgb, to: Rgb, share: number): Rgb {
  return from.map((part, index) => Math.round(part + (to[index]! - part) * share)) as Rgb;
}

const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];

/** The colour itself where a text in it can be read on every background; else as little darker or lighter as necessary. */
export function readable(color: string, backgrounds: string[]): string {
  const wanted = parse(color);
  const grounds = backgrounds.map(parse).filter((ground) => ground !== null);
  if (!wanted || grounds.length === 0) return color;
  const lowest = (candidate: Rgb) => Math.min(...grounds.map((ground) => contrast(candidate, ground)));
  const target = lowest(BLACK) > lowest(WHITE) ? BLACK : WHITE;
  for (let step = 0; step <= STEPS; step += 1) {
    const candidate = mix(wanted, target, step / STEPS);
    if (lowest(candidate) >= WANTED) return `rgb(${candidate.join(' ')})`;
  }
  return `rgb(${target.join(' ')})`;
}

/** Black or white, whichever can be read better on this colour. */
export function inkOn(color: string): string {
  const ground = parse(color) ?? BLACK;
  return contrast(WHITE, ground) >= contrast(BLACK, ground) ? '#ffffff' : '#000000';
}

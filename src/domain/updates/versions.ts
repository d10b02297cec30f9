/** Order of versions (spec 06 section 14, updates). */

const VERSION = /^v?(\d{1,9}(?:\.\d{1,9}){0,3})(-dev\.?(\d{0,9}))?$/i;

/** Four numbers, then the number of the `-dev` build, which is infinite for a finished version. */
function partsOf(version: string): number[] {
  const [, numbers = '0', isBuild, build] = VERSION.exec(version.trim()) ?? [];
  const [major = 0, minor = 0, patch = 0, fourth = 0] = numbers.split('.').map(Number);
  return [major, minor, patch, fourth, isBuild === undefined ? Number.POSITIVE_INFINITY : Number(build)];
}

/** Whether `version` comes after `other`: `v` does not matter, `X-devN` comes before X, what is no version is 0.0.0. */
export function isNewer(version: string, other: string): boolean {
  const [a, b] = [partsOf(version), partsOf(other)];
  const at = a.findIndex((part, index) => part !== b[index]);
  return at >= 0 && a[at]! > b[at]!;
}

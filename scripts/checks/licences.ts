/** Which licences the packages may have that are installed with the service. */

/** Licences that ask for no more than notices of copyright, licence or changes when the package is distributed. */
const ALLOWED: Readonly<Record<string, string>> = {
  MIT: 'notice',
  'MIT-0': 'MIT without the notice',
  ISC: 'notice, as MIT',
  'BSD-2-Clause': 'notice',
  'BSD-3-Clause': 'notice, no use of names for advertising',
  'Apache-2.0': 'notice and list of changes, with a grant of patents',
  '0BSD': 'no condition',
  Unlicense: 'public domain',
  'CC0-1.0': 'public domain',
  'BlueOak-1.0.0': 'notice, with a grant of patents',
  'Python-2.0': 'notice and list of changes',
};

/**
 * Packages whose licence is not stated in a form that can be compared, or not permissive, by name. A changed statement is a new
 * decision, so what is stated must be equal.
 */
const EXCEPTIONS: Readonly<Record<string, { stated: string | null; licence?: string; reason: string }>> = {
  decko: { stated: null, licence: 'MIT', reason: 'its LICENSE is MIT' },
  'seq-queue': { stated: null, licence: 'MIT', reason: 'its LICENSE is MIT' },
  stickyfill: { stated: null, licence: 'MIT', reason: 'its LICENSE is MIT' },
  'url-template': { stated: 'BSD', licence: 'BSD-3-Clause', reason: 'its LICENSE is BSD-3-Clause' },
  elkjs: {
    stated: 'EPL-2.0',
    reason: "part of the studio of Prisma's command line, which the service never loads; neither changed nor bundled",
  },
};

/** An entry of `packages` in package-lock.json. */
export interface LockedPackage {
  version?: string;
  license?: string;
  /** Needed by development dependencies only. */
  dev?: boolean;
  /** Not installed where it does not fit the machine. */
  optional?: boolean;
  /** A development dependency that is also an optional one of something else. */
  devOptional?: boolean;
  /** A package of this repository. */
  link?: boolean;
}

/** The fields of a package.json that state a licence; the last two forms are old. */
export interface PackageManifest {
  license?: string | { type?: string };
  licenses?: readonly { type?: string }[];
}

export interface RefusedPackage {
  name: string;
  version: string;
  licence: string;
}

/**
 * Packages of the production tree whose licence is unknown or refused.
 *
 * @param packages `packages` of package-lock.json, by path
 * @param manifestAt the package.json of an installed package; null where it is not installed, which counts for optional ones only
 */
export function refusedPackages(
  packages: Readonly<Record<string, LockedPackage>>,
  manifestAt: (path: string) => PackageManifest | null,
): RefusedPackage[] {
  return productionPackages(packages).flatMap(({ path, name, locked }) => {
    const manifest = manifestAt(path);
    const isAbsent = manifest === null && (locked.optional || locked.devOptional);
    const stated = manifest ? statedLicence(manifest) : isAbsent ? (locked.license ?? null) : null;
    const exception = EXCEPTIONS[name];
    if (exception ? exception.stated === stated : stated !== null && isAllowed(stated)) return [];
    const licence = stated ?? (manifest || isAbsent ? 'no licence stated' : 'not installed');
    return [{ name, version: locked.version ?? '?', licence }];
  });
}

/** The packages of package-lock.json that are not of this repository and not needed by development dependencies only. */
export function productionPackages(packages: Readonly<Record<string, LockedPackage>>) {
  return Object.entries(packages).flatMap(([path, locked]) => {
    const at = path.lastIndexOf('node_modules/');
    return at < 0 || locked.link || locked.dev ? [] : [{ path, name: path.slice(at + 'node_modules/'.length), locked }];
  });
}

/** The licence of a package that states none, or not in a form that can be compared; found in its files. */
export const foundLicence = (name: string): string | undefined => EXCEPTIONS[name]?.licence;

export function statedLicence({ license, licenses }: PackageManifest): string | null {
  if (typeof license === 'string') return license.trim() || null;
  if (license?.type) return license.type;
  const types = (licenses ?? []).flatMap(({ type }) => type ?? []);
  return types.length > 0 ? types.join(' OR ') : null;
}

/**
 * Whether an SPDX expression can be met by allowed licences alone: one side of an OR, both of an AND. AND binds more strongly. A
 * licence WITH an exception is not in the list, and an expression that cannot be read is refused.
 */
export function isAllowed(expression: string): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? [];
  let next = 0;
  const takes = (word: string): boolean => {
    const isNext = tokens[next]?.toUpperCase() === word;
    if (isNext) next += 1;
    return isNext;
  };
  const one = (): boolean => {
    if (!takes('(')) return Object.hasOwn(ALLOWED, tokens[next++] ?? '');
    const inner = either();
    return takes(')') && inner;
  };
  const both = (): boolean => {
    let isMet = one();
    while (takes('AND')) isMet = one() && isMet;
    return isMet;
  };
  const either = (): boolean => {
    let isMet = both();
    while (takes('OR')) isMet = both() || isMet;
    return isMet;
  };
  const isMet = either();
  return isMet && next === tokens.length;
}

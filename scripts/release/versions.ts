/** Whether everything that states the version of this release states the same one. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  name: string;
  version: string;
  packages?: Record<string, { version?: string }>;
}

/** Texts that name the version of the release, with what stands before it. */
const NAMED_IN: readonly (readonly [file: string, before: string])[] = [
  ['README.md', '  Subscription Service '],
  ['README.md', 'subscription-service-'],
  ['packages/client/README.md', 'subscription-service-client-'],
  ['deploy/kubernetes/README.md', 'subscription-service:'],
  ['deploy/kubernetes/deployment.yaml', 'subscription-service:'],
];

/** @returns a line for each place that states another version than package.json, or none; and for a missing section or dump */
export function versionProblems(root: string): string[] {
  const readText = (path: string) => readFileSync(join(root, path), 'utf8');
  const readManifest = (path: string) => JSON.parse(readText(path)) as Manifest;
  const { version } = readManifest('package.json');
  const manifests = [
    'package-lock.json',
    ...globSync(['packages/*/package.json', 'examples/*/package.json'], { cwd: root }).sort(),
  ];
  const lock = readManifest('package-lock.json').packages!;
  const locked = Object.entries(lock).filter(([path]) => /^(?:packages\/[^/]+)?$/.test(path));
  const stated = [
    ...manifests.map((path) => [path, readManifest(path).version] as const),
    ...locked.map(([path, entry]) => [`package-lock.json, "${path}"`, entry.version] as const),
  ];
  const wrong = stated
    .filter(([, other]) => other !== version)
    .map(([place, other]) => `${place} states ${other}, not ${version}`);
  const unnamed = NAMED_IN.filter(([file, before]) => !readText(file).includes(`${before}${version}`));
  const dated = new RegExp(`^## \\[${RegExp.escape(version)}\\] - \\d{4}-\\d{2}-\\d{2}$`, 'm');
  return [
    ...wrong,
    ...unnamed.map(([file, before]) => `${file} does not have "${before.trim()}" with ${version}`),
    ...(dated.test(readText('CHANGELOG.md')) ? [] : [`CHANGELOG.md has no section of ${version} with a date`]),
    ...(existsSync(join(root, 'tests', 'releases', version, 'dump.sql.gz'))
      ? []
      : [`tests/releases has no dump of ${version} (npm run release:dump)`]),
  ];
}

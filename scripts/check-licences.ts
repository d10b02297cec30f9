/**
 * Refuses packages of the production tree (package-lock.json without development dependencies) whose licence is unknown or not in the
 * list of scripts/checks/licences.ts.
 *   npm run check:licences
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LockedPackage, type PackageManifest, refusedPackages } from './checks/licences.ts';
import { projectRoot } from './checks/source-files.ts';

const readJson = <T>(path: string): T => JSON.parse(readFileSync(join(projectRoot, path), 'utf8')) as T;

const { packages } = readJson<{ packages: Record<string, LockedPackage> }>('package-lock.json');
const refused = refusedPackages(packages, (path) => {
  const manifest = `${path}/package.json`;
  return existsSync(join(projectRoot, manifest)) ? readJson<PackageManifest>(manifest) : null;
});

if (refused.length > 0) {
  const lines = refused.map(({ name, version, licence }) => `${name}@${version}: ${licence}`);
  console.error([...lines, `${refused.length} packages with a licence that is unknown or refused`].join('\n'));
  process.exit(1);
}
console.log('Licences: every package that is installed with the service has a permissive one or a stated exception.');

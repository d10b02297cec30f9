/** Licence texts of the packages whose code is in the build: their licences ask for it where the code is passed on. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { type PackageManifest, statedLicence } from './checks/licences.ts';

const LICENCE_FILE = /^(licen[cs]e|notice|copying)|\.licen[cs]e\.txt$/i;

/**
 * @param file a path with `node_modules` in it, of an installed file
 * @returns the folder of its package from the first `node_modules` on, with slashes; null for a file of this repository
 */
export function packageFolderOf(file: string): string | null {
  return /(?:^|\/)(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)/.exec(file.replaceAll('\\', '/'))?.[1] ?? null;
}

/**
 * @param folders of `packageFolderOf`
 * @returns name, version, licence and the texts of each package; equal texts once, with all packages that have it
 */
export async function bundledLicences(root: string, folders: ReadonlySet<string>): Promise<string> {
  const packagesByText = new Map<string, string[]>();
  for (const folder of [...folders].sort()) {
    const manifest = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')) as PackageManifest & {
      name: string;
      version: string;
    };
    const title = `${manifest.name} ${manifest.version} (${statedLicence(manifest) ?? 'as follows'})`;
    const text = await licenceTexts(join(root, folder));
    packagesByText.set(text, [...(packagesByText.get(text) ?? []), title]);
  }
  const parts = [...packagesByText].map(([text, titles]) => `${titles.join('\n')}\n\n${text}\n`);
  return `Packages whose code is part of this program.\n\n${parts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}

async function licenceTexts(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries
    .filter((entry) => entry.isFile() && LICENCE_FILE.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !relative(folder, file).split(sep).includes('node_modules'));
  const texts = await Promise.all(files.sort().map((file) => readFile(file, 'utf8')));
  return [...new Set(texts.map((text) => text.replaceAll('\r\n', '\n').trim()))].join('\n\n');
}

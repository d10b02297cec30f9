import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The checkout to be read: this one, unless `--root FOLDER` names another. */
export const projectRoot: string = optionValue('--root') ?? join(import.meta.dirname, '..', '..');

export function optionValue(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

const LEFT_OUT = new Set(['generated', 'node_modules', 'dist']);

/** Paths from the root with `/`, sorted; a folder that does not exist has none. */
export function listFiles(root: string, folder: string, pattern: RegExp = /\.ts$/): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return LEFT_OUT.has(entry.name) ? [] : listFiles(root, path, pattern);
      return pattern.test(entry.name) ? [path] : [];
    })
    .sort();
}

export interface SourceText {
  path: string;
  text: string;
}

export function readFiles(root: string, paths: readonly string[]): SourceText[] {
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

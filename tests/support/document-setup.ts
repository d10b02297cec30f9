import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** Before the first worker: makes the API document again when something of the sources is newer, since the routes come from it. */
export default function setup(): void {
  const made = statSync(join(root, 'src/generated/openapi.json'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = ['package-lock.json', 'scripts/openapi.ts', 'src', ...folderEntries('src')];
  if (sources.some((path) => statSync(join(root, path)).mtimeMs > made))
    execFileSync(process.execPath, [join(root, 'scripts/openapi.ts')], { cwd: root, stdio: 'inherit' });
}

function folderEntries(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (path === 'src/generated') return [];
    return entry.isDirectory() ? [path, ...folderEntries(path)] : [path];
  });
}

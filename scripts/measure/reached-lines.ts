import { dirname, join } from 'node:path/posix';
import type { SourceText } from '../checks/source-files.ts';

/**
 * Lines of the routers and of the files of the domain that they import, directly or not: what operations consist of. Jobs that no router
 * reaches, e.g. the processing of the panel's webhooks, are not counted.
 */
export function countReachedLines(files: readonly SourceText[]): number {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const reached = new Set<string>();
  const waiting = [...texts.keys()].filter((path) => path.startsWith('src/routers/'));
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const text = texts.get(path);
    if (text === undefined || reached.has(path)) continue;
    reached.add(path);
    for (const [, target] of text.matchAll(/(?:from|import)\s+'(\.[^']+)'/g)) waiting.push(join(dirname(path), target!));
  }
  const counted = [...reached].filter((path) => /^src\/(?:domain|routers)\//.test(path));
  return counted.reduce((sum, path) => sum + texts.get(path)!.split('\n').length - 1, 0);
}

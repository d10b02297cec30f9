import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const recipe = readFileSync(join(root, 'docs', 'adding-an-operation.md'), 'utf8');
const excerpts = [...recipe.matchAll(/```ts\n\s*\/\/ (\S+)\n([\s\S]*?)```/g)].map((match) => [match[1]!, match[2]!] as const);

test('the recipe has excerpts', () => expect(excerpts).toHaveLength(4));

test.each(excerpts)('every line of the recipe is a line of %s', (path, text) => {
  const lines = new Set(
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .map((line) => line.trim()),
  );
  const shown = text.split('\n').map((line) => line.trim());
  expect(shown.filter((line) => line !== '' && !lines.has(line))).toEqual([]);
});

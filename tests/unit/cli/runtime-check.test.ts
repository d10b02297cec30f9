import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkRuntime } from '../../../src/cli/doctor/process-checks.ts';

const read = async (file: string) => JSON.parse(await readFile(join(import.meta.dirname, '..', '..', '..', file), 'utf8'));

/** The lowest version of a plain `>=A.B.C`; null for anything else. */
function lowest(range: string | undefined): number[] | null {
  const match = /^>=\s*(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(range ?? '');
  return match === null ? null : match.slice(1).map((part) => Number(part ?? 0));
}

const isAbove = (a: number[], b: number[]) => {
  const place = a.findIndex((part, at) => part !== b[at]);
  return place >= 0 && a[place]! > b[place]!;
};

it('the Node that package.json asks for suffices for every package that ships, and doctor asks for the same', async () => {
  const { engines } = await read('package.json');
  const ours = lowest(engines.node)!;
  const { packages } = (await read('package-lock.json')) as {
    packages: Record<string, { dev?: boolean; engines?: { node?: string } }>;
  };
  const shipped = Object.entries(packages).filter(([name, { dev }]) => name.startsWith('node_modules/') && !dev);
  const asking = shipped.flatMap(([name, { engines: asked }]) => {
    const version = lowest(asked?.node);
    return version === null ? [] : [{ name, version }];
  });
  expect(asking.length).toBeGreaterThan(100);
  expect(asking.filter(({ version }) => isAbove(version, ours))).toEqual([]);

  const [major, minor] = ours;
  expect(checkRuntime(`v${major}.${minor}.0`, '1.0.0').verdict).toBe('ok');
  expect(checkRuntime(`v${major}.${minor! - 1}.9`, '1.0.0').verdict).toBe('problem');
});

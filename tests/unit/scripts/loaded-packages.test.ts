import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles, projectRoot, readFiles } from '../../../scripts/checks/source-files.ts';

const LOADED = /await import\('([^.'][^']*)'\)(\)\.default\b)?/g;

test('a CommonJS package that is loaded when it is needed is used by its default export, which alone the build has', () => {
  const loads = readFiles(projectRoot, listFiles(projectRoot, 'src')).flatMap(({ path, text }) =>
    [...text.matchAll(LOADED)].map(([, name, byDefault]) => ({ path, name: name!, isByDefault: byDefault !== undefined })),
  );
  const isCommonJs = ({ name }: { name: string }) => {
    const [scopeOrName, ...more] = name.split('/');
    const folder = scopeOrName!.startsWith('@') ? `${scopeOrName}/${more[0]}` : scopeOrName!;
    const manifest = JSON.parse(readFileSync(join(projectRoot, 'node_modules', folder, 'package.json'), 'utf8')) as {
      type?: string;
    };
    return manifest.type !== 'module';
  };
  const commonJs = loads.filter(isCommonJs);
  expect(commonJs.map(({ name }) => name)).toContain('pg-copy-streams');
  expect(commonJs.filter(({ isByDefault }) => !isByDefault)).toEqual([]);
});

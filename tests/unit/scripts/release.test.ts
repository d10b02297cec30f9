import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../../scripts/checks/source-files.ts';
import { type BillOfMaterials, gapsOf, productionBill } from '../../../scripts/release/bill-of-materials.ts';
import { versionProblems } from '../../../scripts/release/versions.ts';

describe('the version of the release', () => {
  it('is the same in every manifest, in what names it, in the changelog and among the kept dumps', () => {
    expect(versionProblems(projectRoot)).toEqual([]);
  });

  describe('of a copy', () => {
    let copy: string;
    beforeAll(async () => {
      copy = await mkdtemp(join(tmpdir(), 'release-versions-'));
      const paths = ['package.json', 'package-lock.json', 'README.md', 'CHANGELOG.md', 'packages/client/package.json'];
      const others = ['packages/client/README.md', 'deploy/kubernetes/README.md', 'deploy/kubernetes/deployment.yaml'];
      for (const path of [...paths, ...others, 'tests/releases'])
        await cp(join(projectRoot, path), join(copy, path), { recursive: true });
    });
    afterAll(() => rm(copy, { recursive: true, force: true }));

    it('is asked for in every place', async () => {
      expect(versionProblems(copy)).toEqual([]);
      const path = join(copy, 'package.json');
      const manifest = JSON.parse(await readFile(path, 'utf8')) as { version: string };
      await writeFile(path, JSON.stringify({ ...manifest, version: '99.0.0' }));
      const places = versionProblems(copy).map((line) => line.split(' ')[0]);
      expect(new Set(places)).toEqual(
        new Set([
          ...['package-lock.json', 'packages/client/package.json', 'package-lock.json,', 'README.md', 'CHANGELOG.md'],
          ...['packages/client/README.md', 'deploy/kubernetes/README.md', 'deploy/kubernetes/deployment.yaml', 'tests/releases'],
        ]),
      );
    });
  });
});

describe('the bill of materials', () => {
  const component = (name: string, licence?: string) => ({
    'bom-ref': `${name}@1.0.0`,
    name,
    version: '1.0.0',
    ...(licence ? { licenses: [{ license: { id: licence } }] } : {}),
  });
  const all: BillOfMaterials = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    components: [component('served', 'MIT'), component('tested', 'MIT'), component('decko'), component('unstated')],
    dependencies: [
      { ref: 'root', dependsOn: ['served@1.0.0', 'tested@1.0.0'] },
      { ref: 'served@1.0.0', dependsOn: ['decko@1.0.0'] },
      { ref: 'tested@1.0.0', dependsOn: [] },
    ],
  };
  const locked = (name: string, fields = {}) => [`node_modules/${name}`, { version: '1.0.0', ...fields }] as const;

  it('has the packages of production alone, with licences that were found in their files', () => {
    const bill = productionBill(all, Object.fromEntries([locked('served'), locked('tested', { dev: true }), locked('decko')]));
    expect(bill.components).toEqual([component('served', 'MIT'), component('decko', 'MIT')]);
    expect(bill.dependencies).toEqual([
      { ref: 'root', dependsOn: ['served@1.0.0'] },
      { ref: 'served@1.0.0', dependsOn: ['decko@1.0.0'] },
    ]);
  });

  it('is refused while a package or a licence is missing, except optional packages of other machines', () => {
    const packages = Object.fromEntries([
      ...[locked('served'), locked('absent'), locked('unstated')],
      ...[locked('elsewhere', { optional: true }), locked('here', { optional: true })],
    ]);
    const gaps = gapsOf(productionBill(all, packages), packages, (path) => path.endsWith('/here'));
    expect(gaps).toEqual(['absent@1.0.0 is missing', 'unstated@1.0.0 has no licence', 'here@1.0.0 is missing']);
  });
});

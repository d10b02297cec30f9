/**
 * Writes the bill of materials of production, CycloneDX as JSON, and fails when it does not name every package with version and licence.
 *   npm run sbom -- [FILE, dist/sbom.cdx.json unless given]
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../checks/source-files.ts';
import { type BillOfMaterials, gapsOf, productionBill } from './bill-of-materials.ts';

const file = process.argv[2] ?? join(projectRoot, 'dist', 'sbom.cdx.json');
const { packages } = JSON.parse(readFileSync(join(projectRoot, 'package-lock.json'), 'utf8'));
const npm = spawnSync('npm', ['sbom', '--sbom-format=cyclonedx'], { cwd: projectRoot, encoding: 'utf8', maxBuffer: 1 << 28 });
if (npm.status !== 0) throw new Error(`npm sbom: ${npm.stderr}`);
const bill = productionBill(JSON.parse(npm.stdout) as BillOfMaterials, packages);
const gaps = gapsOf(bill, packages, (path) => existsSync(join(projectRoot, path)));
if (gaps.length > 0) {
  console.error(gaps.join('\n'));
  process.exit(1);
}
writeFileSync(file, JSON.stringify(bill, null, 2));
console.log(
  `${bill.bomFormat} ${bill.specVersion}: ${bill.components.length} packages of production, each with version and licence, in ${file}`,
);
